// SPDX-License-Identifier: Apache-2.0
#include "dfcl/check/roles/role_words.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace dfcl::check {
namespace {

struct WordList {
  std::vector<std::string_view> strong;  // 3 alone, 2 as a part of the name
  std::vector<std::string_view> weak;    // 2 alone, 1 as a part
  std::vector<std::string_view> heads;   // 1 as the end of a part, where words are joined: "Gesamtumsatz"
};

// English first, then German, French, Spanish, Italian and Dutch, without accents (see folded).
const WordList& list_of(Word word) {
  static const WordList arm = {
      {"arm",        "arms",      "treatment",  "treated",    "treat",       "variant",     "discount",   "offer",
       "coupon",     "incentive", "promotion",  "promo",      "voucher",     "match",       "assigned",   "assignment",
       "behandlung", "variante",  "testgruppe", "traitement", "tratamiento", "trattamento", "behandeling"},
      {"group",        "segment",     "campaign", "level",  "condition", "cell",      "test",     "mailed",
       "mailing",      "mail",        "email",    "sent",   "contacted", "offered",   "bucket",   "ratio",
       "intervention", "version",     "gruppe",   "rabatt", "angebot",   "gutschein", "kampagne", "aktion",
       "massnahme",    "anschreiben", "groupe",   "remise", "offre",     "campagne",  "grupo",    "descuento",
       "oferta",       "cupon",       "campana",  "gruppo", "sconto",    "offerta",   "groep",    "korting"},
      {"gruppe", "rabatt", "angebot"}};
  static const WordList revenue = {
      {"revenue",     "gmv",       "sales",           "sale",        "orders",     "order",
       "spend",       "spent",     "purchase",        "purchases",   "purchased",  "conversion",
       "converted",   "donation",  "donated",         "profit",      "turnover",   "bought",
       "voted",       "margin",    "umsatz",          "erlos",       "erloes",     "ertrag",
       "einnahmen",   "gewinn",    "deckungsbeitrag", "bestellwert", "bestellung", "bestellungen",
       "gekauft",     "kauf",      "kaufe",           "kaeufe",      "spende",     "spenden",
       "absatz",      "chiffre",   "ventes",          "vente",       "achat",      "achats",
       "commande",    "commandes", "recette",         "recettes",    "don",        "dons",
       "ventas",      "venta",     "compra",          "compras",     "pedido",     "pedidos",
       "facturacion", "donacion",  "fatturato",       "ricavo",      "ricavi",     "vendite",
       "acquisto",    "acquisti",  "ordine",          "ordini",      "omzet",      "verkoop",
       "aankoop",     "aankopen",  "bestelling",      "bestellingen"},
      {"amount", "value",  "outcome",   "response", "basket",  "payment", "paid", "total",
       "y",      "target", "warenkorb", "betrag",   "wert",    "zahlung", "ca",   "montant",
       "panier", "revenu", "importe",   "ingresos", "importo", "bedrag"},
      {"umsatz", "erlos", "erloes", "ertrag", "betrag", "omzet"}};
  static const WordList cost = {
      {"cost",    "costs",    "subsidy", "subsidies", "expense", "expenses", "payout", "kosten",
       "aufwand", "zuschuss", "cout",    "couts",     "depense", "depenses", "frais",  "coste",
       "costes",  "costo",    "costos",  "costi",     "gasto",   "gastos"},
      {"price", "redeemed", "reward", "bonus", "commission", "rebate", "granted", "discount", "voucher", "rabatt",
       "gutschein", "praemie", "pramie", "remise", "descuento", "cupon", "sconto", "korting"},
      {"kosten", "rabatt", "aufwand"}};
  static const WordList attention = {
      {"visit", "visits", "visited", "click", "clicks", "clicked", "session", "sessions", "besuch", "besuche", "klick",
       "klicks", "visite", "visites", "clic", "clics", "visita", "visitas"},
      {"view", "views", "impression", "impressions", "opened", "open"},
      {}};
  static const WordList after = {
      {"exposure", "exposed", "response", "redeemed", "redemption", "opened", "clicked", "out", "outcome", "post",
       "after", "voted", "converted", "conversion", "nachher", "eingelost", "eingeloest", "apres", "despues"},
      {"click", "visit", "spend", "refund", "refunds", "returned", "churned", "unsubscribed"},
      {}};
  static const WordList outcome = {{"out", "outcome", "outcomes", "post"}, {"result", "ergebnis"}, {}};
  static const WordList before = {
      {"income",     "age",        "history",    "historical", "previous",   "prior",   "past",
       "last",       "before",     "pre",        "baseline",   "lag",        "birth",   "yob",
       "tenure",     "hist",       "prev",       "lifetime",   "ltv",        "vorjahr", "vorjahres",
       "vorher",     "vor",        "bisher",     "bisherige",  "historie",   "alter",   "einkommen",
       "letzte",     "letztes",    "letzter",    "precedent",  "precedente", "avant",   "historique",
       "anciennete", "anterior",   "previo",     "previa",     "antes",      "pasado",  "historico",
       "edad",       "antiguedad", "precedenti", "eta",        "vorig",      "vorige",  "leeftijd"},
      {"avg", "average", "mean", "median", "area", "share", "ago", "recent", "since", "cum", "cumulative", "letzten",
       "durchschnitt", "moyenne", "promedio"},
      {}};
  static const WordList id = {
      {"id", "uuid", "guid", "uid", "kundennummer", "kundennr", "kundenid"},
      {"unit",    "client",  "account",     "customer", "user",   "member", "key",    "number", "index",
       "player",  "person",  "kunde",       "kunden",   "nutzer", "konto",  "nummer", "nr",     "mitglied",
       "cliente", "usuario", "utilisateur", "compte",   "cuenta", "utente", "klant"},
      {"nummer"}};
  static const WordList time = {
      {"day", "date", "week", "timestamp", "period", "datum", "woche", "jour", "semaine", "fecha", "semana"}, {}, {}};
  static const WordList cluster = {{"household", "hh", "cluster", "family", "haushalt", "foyer", "hogar"},
                                   {"store", "shop", "village", "school", "site", "filiale"},
                                   {"haushalt"}};
  static const WordList model = {
      {"prediction", "predictions", "predicted", "pred", "preds", "yhat", "uplift", "cate"}, {"score", "scores"}, {}};
  // Of which more is a loss.
  static const WordList loss = {
      {"churn",        "churned",       "churns",        "attrition",     "cancel",         "cancelled",
       "canceled",     "cancellation",  "cancellations", "refund",        "refunds",        "refunded",
       "chargeback",   "chargebacks",   "complaint",     "complaints",    "complained",     "unsubscribe",
       "unsubscribed", "unsubscribes",  "optout",        "defaulted",     "fraud",          "lapsed",
       "returns",      "kundigung",     "kuendigung",    "kundigungen",   "kuendigungen",   "gekundigt",
       "gekuendigt",   "storno",        "stornos",       "storniert",     "retoure",        "retouren",
       "beschwerde",   "beschwerden",   "reklamation",   "reklamationen", "abmeldung",      "abmeldungen",
       "abwanderung",  "resiliation",   "resiliations",  "remboursement", "remboursements", "plainte",
       "plaintes",     "desabonnement", "devolucion",    "devoluciones",  "reembolso",      "reembolsos",
       "queja",        "quejas",        "bajas",         "abandono",      "reso",           "resi",
       "rimborso",     "rimborsi",      "reclamo",       "reclami",       "disdetta",       "opzegging",
       "retouren",     "klachten"},
      {"return", "returned", "default", "loss", "losses", "lost", "retour", "retours", "baja"},
      {"kundigung", "kuendigung", "retoure", "retouren"}};
  // An amount of money, whatever its values look like.
  static const WordList money = {{"revenue",     "gmv",
                                  "sales",       "spend",
                                  "spent",       "amount",
                                  "turnover",    "profit",
                                  "margin",      "value",
                                  "basket",      "umsatz",
                                  "erlos",       "erloes",
                                  "ertrag",      "gewinn",
                                  "betrag",      "wert",
                                  "bestellwert", "einnahmen",
                                  "warenkorb",   "deckungsbeitrag",
                                  "chiffre",     "ca",
                                  "montant",     "recette",
                                  "recettes",    "panier",
                                  "ventas",      "facturacion",
                                  "importe",     "ingresos",
                                  "fatturato",   "ricavi",
                                  "importo",     "omzet",
                                  "bedrag",      "eur",
                                  "euro",        "usd",
                                  "gbp",         "chf",
                                  "cents"},
                                 {},
                                 {"umsatz", "betrag", "ertrag", "omzet"}};
  // How many, not how much.
  static const WordList count = {
      {"orders",       "order",      "items",    "item",      "units",       "quantity", "qty",       "count",
       "num",          "number",     "n",        "purchases", "visits",      "clicks",   "sessions",  "transactions",
       "bestellungen", "bestellung", "anzahl",   "artikel",   "menge",       "stuck",    "stueck",    "kaufe",
       "kaeufe",       "commandes",  "articles", "nombre",    "achats",      "pedidos",  "articulos", "compras",
       "numero",       "ordini",     "acquisti", "aantal",    "bestellingen"},
      {},
      {}};
  static const WordList weight = {
      {"weight", "weights", "gewicht", "gewichtung", "poids", "ponderation", "peso"}, {}, {}};
  static const WordList propensity = {{"propensity", "propensities", "pscore"}, {"prob", "probability"}, {}};
  switch (word) {
    case Word::arm: return arm;
    case Word::revenue: return revenue;
    case Word::cost: return cost;
    case Word::attention: return attention;
    case Word::after: return after;
    case Word::outcome: return outcome;
    case Word::before: return before;
    case Word::id: return id;
    case Word::time: return time;
    case Word::cluster: return cluster;
    case Word::model: return model;
    case Word::loss: return loss;
    case Word::money: return money;
    case Word::count: return count;
    case Word::weight: return weight;
    case Word::propensity: return propensity;
  }
  return arm;
}

// Latin letters without their accents, in small letters: "Kündigung" and "KÜNDIGUNG" are "kundigung", "ß" is "ss". What
// else there is stays as it is.
std::string folded(const std::string& text) {
  // The letters from U+00C0 to U+00FF; '?' where there is no plain one.
  constexpr std::string_view kPlain = "aaaaaaaceeeeiiiidnooooo?ouuuuy?saaaaaaaceeeeiiiidnooooo?ouuuuy?y";
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_accented = byte == 0xC3 && i + 1 < text.size() && (static_cast<unsigned char>(text[i + 1]) >> 6) == 2;
    const char letter = is_accented ? kPlain[static_cast<unsigned char>(text[i + 1]) & 0x3F] : text[i];
    if (is_accented && letter != '?') {
      plain += letter;
      if (static_cast<unsigned char>(text[i + 1]) == 0x9F) plain += 's';
      ++i;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool holds(const std::vector<std::string_view>& words, const std::string& text) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// "amountgiven" begins with "amount".
bool begins_with_word(const WordList& list, const std::string& text) {
  constexpr std::size_t kShortest = 5;
  const auto begins = [&](std::string_view word) { return word.size() >= kShortest && text.starts_with(word); };
  return std::any_of(list.strong.begin(), list.strong.end(), begins) ||
         std::any_of(list.weak.begin(), list.weak.end(), begins);
}

bool ends_with_word(const WordList& list, const std::string& text) {
  return std::any_of(list.heads.begin(), list.heads.end(), [&](std::string_view word) { return text.ends_with(word); });
}

// Zero, whatever stands around it: "0 EUR", "€0", "0.00 %".
bool is_zero(const std::string& label) {
  const auto is_digit = [](char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; };
  const auto first = std::find_if(label.begin(), label.end(), is_digit);
  const bool begins = std::none_of(label.begin(), first,
                                   [](char letter) { return std::isalpha(static_cast<unsigned char>(letter)) != 0; });
  return first != label.end() && begins &&
         std::none_of(first, label.end(), [&](char letter) { return is_digit(letter) && letter != '0'; });
}

}  // namespace

bool is_window(const std::string& name) {
  const std::string text = lower_case(name);
  for (std::size_t i = 1; i < text.size(); ++i) {
    const bool after_digit = std::isdigit(static_cast<unsigned char>(text[i - 1])) != 0;
    const bool ends = i + 1 == text.size() || text[i + 1] == '_' || text[i + 1] == ' ';
    if (after_digit && ends && (text[i] == 'd' || text[i] == 'w' || text[i] == 'm' || text[i] == 'y')) return true;
  }
  return false;
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words;
  std::string word;
  bool was_small = false;
  for (const char letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool is_letter = std::isalpha(byte) != 0 || byte >= 0x80;
    if (!word.empty() && (!is_letter || (was_small && std::isupper(byte) != 0))) {
      words.push_back(lower_case(word));
      word.clear();
    }
    if (is_letter) word += letter;
    was_small = std::islower(byte) != 0;
  }
  if (!word.empty()) words.push_back(lower_case(word));
  return words;
}

int name_score(const std::string& name, Word word) {
  const WordList& list = list_of(word);
  if (word == Word::before && is_window(name)) return 3;
  const std::string plain = folded(name);
  const std::string whole = lower_case(plain);
  if (holds(list.strong, whole)) return 3;
  if (holds(list.weak, whole)) return 2;
  int best = 0;
  for (const std::string& part : words_of(plain)) {
    if (holds(list.strong, part)) best = std::max(best, 2);
    if (holds(list.weak, part) || begins_with_word(list, part) || ends_with_word(list, part)) best = std::max(best, 1);
  }
  return best;
}

int control_score(const std::string& label) {
  // Of a label as a whole, and of its first word too.
  static const std::vector<std::string_view> whole_labels = {"n", "off", "false", "nil", "bau", "non", "nee"};
  static const std::vector<std::string_view> first_words = {
      "control",   "none",    "no",        "nothing", "placebo",   "holdout",  "untreated", "not",
      "without",   "never",   "contrl",    "ctrl",    "unexposed", "baseline", "holdback",  "heldout",
      "kontrolle", "ohne",    "kein",      "keine",   "keiner",    "nichts",   "nein",      "temoin",
      "controle",  "sans",    "aucun",     "aucune",  "rien",      "sin",      "ninguno",   "ninguna",
      "nada",      "testigo", "controllo", "nessuno", "nessuna",   "senza",    "geen",      "zonder"};
  const std::string plain = folded(label);
  const std::string whole = lower_case(plain);
  if (holds(whole_labels, whole) || is_zero(whole)) return 2;
  const std::vector<std::string> words = words_of(plain);
  if (words.empty()) return 0;
  if (holds(first_words, words.front())) return 2;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "control" || word == "placebo" || word == "holdout" || word.starts_with("kontroll") ||
        (word == "hold" && i + 1 < words.size() && words[i + 1] == "out"))
      return 2;
  }
  static const std::vector<std::string_view> perhaps = {"a",       "usual",     "standard", "default",
                                                        "regular", "reference", "referenz"};
  return holds(perhaps, whole) ? 1 : 0;
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string clean;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool starts_character = (byte & 0xC0) != 0x80;
    if (clean.size() >= kMost && starts_character) return clean + "...";
    clean += byte < 0x20 || byte == 0x7F ? '?' : letter;
  }
  return clean;
}

}  // namespace dfcl::check
