/** A medium that several devices share: the radio of an access point, which sends one piece after another. */
export interface Medium {
  /** Takes the medium for so many milliseconds, after all pieces before; returns when this piece has been sent. */
  take(now: number, milliseconds: number): number;
}

export function createMedium(): Medium {
  let freeAt = 0;
  return {
    take(now, milliseconds) {
      freeAt = Math.max(now, freeAt) + milliseconds;
      return freeAt;
    },
  };
}
