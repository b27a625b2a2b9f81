/** The most looks at a status that says of a device that it is away, although it believes that it is connected. */
export const LOOKS_AT_CONNECTIONS = 4;
/** Milliseconds for which a device has to be connected until a cancel that it is owed must have come. */
export const CANCELLED_WITHIN = 5_000;
