/** The most looks at a status that says of a device that it is away, although it believes that it is connected. */
export const LOOKS_AT_CONNECTIONS = 4;
