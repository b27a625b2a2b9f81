const PAGE = 4096;

/**
 * Keeps one number of 32 bits for each transactionId, so that a run of a million transactions recognises a second
 * result or a second 201 with little memory. The ids rise almost without gaps, so arrays of 4096 neighbouring ids waste
 * little space.
 */
export interface IdMarks {
  /** The number that was set for the id; undefined if none was set, or 0. */
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
