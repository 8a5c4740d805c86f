export type Maybe<T> = T | null | undefined;
