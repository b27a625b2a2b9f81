/** In one and a half of its keep-alives of a minute a device notices that its connection is dead. A look takes half a second. */
export const LOOKS_AT_CONNECTIONS = 200;
export const CANCELLED_WITHIN = 100_000;
