/** A server that answers, and that must not be used as it is: for people. */
export class Unfit extends Error {}
