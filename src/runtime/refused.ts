/** Something that an operator asked for and that is not possible; the message is a sentence for people. */
export class Refused extends Error {}
