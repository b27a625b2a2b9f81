/** A backup or a restore that is not possible; the message is a sentence for people. */
export class BackupError extends Error {}
