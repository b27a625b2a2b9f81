/** Work takes no time of the world. */
export const threadTime = (): number => 0;
