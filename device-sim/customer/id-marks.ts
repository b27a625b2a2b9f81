const PAGE = 4096;

/**
 * A mark of each transaction, in four bytes for each: a run of a million transactions knows a second result, or a second 201, for
 * what it is. The numbers of transactions go up, so the pages are full.
 */
export interface IdMarks {
  /** Undefined when it has none, or 0. */
  of(transactionId: number): number | undefined;
  set(transactionId: number, mark: number): void;
}

export function createIdMarks(): IdMarks {
  const pages = new Map<number, Uint32Array>();
  return {
    of: (transactionId) => pages.get(Math.floor(transactionId / PAGE))?.[transactionId % PAGE] || undefined,
    set(transactionId, mark) {
      const place = Math.floor(transactionId / PAGE);
      const page = pages.get(place) ?? new Uint32Array(PAGE);
      pages.set(place, page);
      page[transactionId % PAGE] = mark;
    },
  };
}
