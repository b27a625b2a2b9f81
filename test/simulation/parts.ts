/** The parts of a world that have their own chance: one draw more in one of them changes nothing in the others. */
export const PARTS = {
  numbers: 1,
  network: 2,
  disk: 3,
  faults: 4,
  plan: 5,
  trouble: 6,
  bytes: 7,
  ids: 8,
  surroundings: 9,
  administrators: 10,
  machine: 11,
  restores: 21,
  encounters: 22,
  waits: 23,
  floods: 24,
  endpoints: 25,
} as const;
