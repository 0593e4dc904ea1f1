// The last answers of the service: a page that is opened again shows them until the new ones come.

export interface Answer<T> {
  data: T;
  at: Date;
}

/** Answers of one type, each by what was asked. */
export type Answers<T> = Map<string, Answer<T>>;

const all: { clear: () => void }[] = [];

/** Return a place for answers of one type, which is emptied when the session or the account ends. */
export function keepAnswers<T>(): Answers<T> {
  const kept: Answers<T> = new Map();
  all.push(kept);
  return kept;
}

export function forgetAnswers(): void {
  for (const kept of all) kept.clear();
}
