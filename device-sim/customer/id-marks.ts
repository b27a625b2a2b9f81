const PAGE = 4096;

/**
 * Keeps a mark of four bytes for each transaction, so that a run of a million transactions recognises a second result
 * or a second 201. The ids rise without large gaps, so the pages are full.
 */
export interface IdMarks {
  /** The mark; undefined if there is none, or if it is 0. */
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
