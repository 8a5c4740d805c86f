// SPDX-License-Identifier: Apache-2.0
#include "dfcl/io/workbook/workbook.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <cmath>
#include <cstdint>
#include <set>

#include "dfcl/core/markup.h"
#include "dfcl/core/printable.h"

namespace dfcl::io {
namespace {

constexpr const char* kXmlHead = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
constexpr std::size_t kMostNameLetters = 31;  // of a sheet

struct ArchivedFile {
  std::string path;
  std::string text;
};

void append_number(std::string& bytes, std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFFu);
}

std::uint32_t checksum(const std::string& text) {
  boost::crc_32_type crc;
  crc.process_bytes(text.data(), text.size());
  return crc.checksum();
}

// What local and central headers share, from the version needed to the lengths of the name.
void append_common(std::string& bytes, const ArchivedFile& part) {
  append_number(bytes, 20, 2);      // version needed
  append_number(bytes, 0x0800, 2);  // names are UTF-8
  append_number(bytes, 0, 2);       // stored
  append_number(bytes, 0, 2);       // time
  append_number(bytes, 0x0021, 2);  // the first day that the format knows, 1980-01-01
  append_number(bytes, checksum(part.text), 4);
  append_number(bytes, part.text.size(), 4);
  append_number(bytes, part.text.size(), 4);
  append_number(bytes, part.path.size(), 2);
  append_number(bytes, 0, 2);
}

std::string zip_of(const std::vector<ArchivedFile>& parts) {
  std::string bytes;
  std::string directory;
  for (const ArchivedFile& part : parts) {
    const std::size_t place = bytes.size();
    append_number(bytes, 0x04034B50, 4);
    append_common(bytes, part);
    bytes += part.path + part.text;
    append_number(directory, 0x02014B50, 4);
    append_number(directory, 20, 2);
    append_common(directory, part);
    append_number(directory, 0, 2);  // comment
    append_number(directory, 0, 2);  // disk
    append_number(directory, 0, 2);  // attributes
    append_number(directory, 0, 4);
    append_number(directory, place, 4);
    directory += part.path;
  }
  const std::size_t place = bytes.size();
  bytes += directory;
  append_number(bytes, 0x06054B50, 4);
  append_number(bytes, 0, 4);
  append_number(bytes, parts.size(), 2);
  append_number(bytes, parts.size(), 2);
  append_number(bytes, directory.size(), 4);
  append_number(bytes, place, 4);
  append_number(bytes, 0, 2);
  return bytes;
}

std::string escaped(const std::string& text) { return core::markup_safe(core::printable(text)); }

bool starts_letter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) != 0x80u; }

std::string first_letters(const std::string& text, std::size_t most) {
  std::size_t letters = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (starts_letter(text[end]) && ++letters > most) break;
  }
  return text.substr(0, end);
}

// Legal and different names; programs take names that differ in case alone for the same.
std::vector<std::string> sheet_names(const std::vector<Sheet>& sheets) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const Sheet& sheet : sheets) {
    std::string wanted = core::printable(sheet.name);
    for (char& letter : wanted) {
      if (std::string_view("[]:*?/\\'").find(letter) != std::string_view::npos) letter = ' ';
    }
    if (wanted.empty()) wanted = "sheet";
    std::string name = first_letters(wanted, kMostNameLetters);
    const auto key = [](std::string text) {
      std::transform(text.begin(), text.end(), text.begin(), [](unsigned char letter) { return std::tolower(letter); });
      return text;
    };
    for (int number = 2; !taken.insert(key(name)).second; ++number)
      name = first_letters(wanted, kMostNameLetters - 4) + fmt::format(" {}", number);
    names.push_back(name);
  }
  return names;
}

std::string text_cell(const std::string& text, const char* style) {
  return fmt::format("<c{} t=\"inlineStr\"><is><t xml:space=\"preserve\">{}</t></is></c>", style, escaped(text));
}

std::string sheet_xml(const Sheet& sheet) {
  std::string xml = std::string(kXmlHead) +
                    "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData><row>";
  for (const std::string& column : sheet.columns) xml += text_cell(column, " s=\"1\"");
  xml += "</row>";
  for (const std::vector<Cell>& row : sheet.rows) {
    xml += "<row>";
    for (const Cell& cell : row) {
      const auto* number = std::get_if<double>(&cell);
      if (number != nullptr && std::isfinite(*number)) {
        xml += fmt::format("<c><v>{}</v></c>", *number);
      } else if (const auto* text = std::get_if<std::string>(&cell)) {
        xml += text_cell(*text, "");
      } else {
        xml += "<c/>";
      }
    }
    xml += "</row>";
  }
  return xml + "</sheetData></worksheet>";
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return quoted + "\"";
}

// The styles: plain cells, and bold ones for titles.
constexpr const char* kStyles =
    "<styleSheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">"
    "<fonts count=\"2\"><font><sz val=\"11\"/><name val=\"Calibri\"/></font>"
    "<font><b/><sz val=\"11\"/><name val=\"Calibri\"/></font></fonts>"
    "<fills count=\"2\"><fill><patternFill patternType=\"none\"/></fill><fill><patternFill patternType=\"gray125\"/>"
    "</fill></fills><borders count=\"1\"><border/></borders>"
    "<cellStyleXfs count=\"1\"><xf/></cellStyleXfs>"
    "<cellXfs count=\"2\"><xf xfId=\"0\"/><xf fontId=\"1\" applyFont=\"1\" xfId=\"0\"/></cellXfs></styleSheet>";
constexpr const char* kRelationships = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
constexpr const char* kPackage = "http://schemas.openxmlformats.org/package/2006/relationships";
constexpr const char* kSpreadsheet = "application/vnd.openxmlformats-officedocument.spreadsheetml";

}  // namespace

std::string workbook_bytes(const std::vector<Sheet>& sheets) {
  const std::vector<std::string> names = sheet_names(sheets);
  std::string types, list, links;
  std::vector<ArchivedFile> parts;
  for (std::size_t i = 1; i <= sheets.size(); ++i) {
    types += fmt::format("<Override PartName=\"/xl/worksheets/sheet{}.xml\" ContentType=\"{}.worksheet+xml\"/>", i,
                         kSpreadsheet);
    list += fmt::format("<sheet name=\"{}\" sheetId=\"{}\" r:id=\"rId{}\"/>", escaped(names[i - 1]), i, i);
    links += fmt::format("<Relationship Id=\"rId{}\" Type=\"{}/worksheet\" Target=\"worksheets/sheet{}.xml\"/>", i,
                         kRelationships, i);
  }
  links += fmt::format("<Relationship Id=\"rId{}\" Type=\"{}/styles\" Target=\"styles.xml\"/>", sheets.size() + 1,
                       kRelationships);
  parts.push_back({"[Content_Types].xml",
                   std::string(kXmlHead) +
                       fmt::format("<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">"
                                   "<Default Extension=\"rels\" "
                                   "ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>"
                                   "<Default Extension=\"xml\" ContentType=\"application/xml\"/>"
                                   "<Override PartName=\"/xl/workbook.xml\" ContentType=\"{0}.sheet.main+xml\"/>"
                                   "<Override PartName=\"/xl/styles.xml\" ContentType=\"{0}.styles+xml\"/>{1}</Types>",
                                   kSpreadsheet, types)});
  parts.push_back({"_rels/.rels",
                   std::string(kXmlHead) +
                       fmt::format("<Relationships xmlns=\"{}\"><Relationship Id=\"rId1\" Type=\"{}/officeDocument\" "
                                   "Target=\"xl/workbook.xml\"/></Relationships>",
                                   kPackage, kRelationships)});
  parts.push_back({"xl/workbook.xml",
                   std::string(kXmlHead) +
                       fmt::format("<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" "
                                   "xmlns:r=\"{}\"><sheets>{}</sheets></workbook>",
                                   kRelationships, list)});
  parts.push_back(
      {"xl/_rels/workbook.xml.rels",
       std::string(kXmlHead) + fmt::format("<Relationships xmlns=\"{}\">{}</Relationships>", kPackage, links)});
  parts.push_back({"xl/styles.xml", std::string(kXmlHead) + kStyles});
  for (std::size_t i = 1; i <= sheets.size(); ++i)
    parts.push_back({fmt::format("xl/worksheets/sheet{}.xml", i), sheet_xml(sheets[i - 1])});
  return zip_of(parts);
}

std::string cells_csv(const std::vector<Sheet>& sheets) {
  std::string text = "sheet,row,column,value\n";
  for (const Sheet& sheet : sheets) {
    for (std::size_t row = 0; row < sheet.rows.size(); ++row) {
      for (std::size_t column = 0; column < sheet.rows[row].size(); ++column) {
        const Cell& cell = sheet.rows[row][column];
        const auto* number = std::get_if<double>(&cell);
        const auto* word = std::get_if<std::string>(&cell);
        if (word == nullptr && (number == nullptr || !std::isfinite(*number))) continue;
        text += fmt::format("{},{},{},{}\n", csv_field(sheet.name), row + 1, csv_field(sheet.columns[column]),
                            word != nullptr ? csv_field(*word) : fmt::format("{}", *number));
      }
    }
  }
  return text;
}

}  // namespace dfcl::io
