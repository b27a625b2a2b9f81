/** The server answers, but must not be used with its settings; the message is for people. */
export class Unfit extends Error {}
