/** The parts of a world that have their own chance: one draw more in one of them changes nothing in the others. */
export const PARTS = { numbers: 1, bytes: 7, ids: 8, network: 2, disk: 3, faults: 4, plan: 5, trouble: 6 } as const;
