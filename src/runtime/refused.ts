/** Something that an operator asked for and that is not possible; the message is a sentence for people. */
export class Refused extends Error {}

/** Data that the service needs and cannot use now: a damaged database, or a server that does not answer. */
export class Unusable extends Refused {}
