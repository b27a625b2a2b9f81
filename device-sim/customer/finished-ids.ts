const PAGE = 4096;

/**
 * Under which webhook the result of each transaction came, in four bytes for each: a run of a million transactions knows a
 * second result for what it is. The numbers of transactions go up, so the pages are full.
 */
export interface FinishedIds {
  /** The mark of a finished one; undefined when it is not finished. */
  of(transactionId: number): number | undefined;
  set(transactionId: number, mark: number): void;
}

export function createFinishedIds(): FinishedIds {
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
