export type ApkFault =
  /** No zip archive, or one that ends too early. */
  | 'not_an_archive'
  /** The archive contradicts itself. */
  | 'archive_damaged'
  | 'manifest_missing'
  /** The manifest is no binary XML, or contradicts itself. */
  | 'manifest_damaged'
  /** More than the bounds of reading allow. */
  | 'too_large'
  /** Legal, but not read here: encryption, other compressions, references to resources. */
  | 'unsupported';

/** The file is no APK that can be read. Errors of reading it (network, disk) are never this. */
export class ApkError extends Error {
  readonly reason: ApkFault;

  constructor(reason: ApkFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ApkError';
    this.reason = reason;
  }
}
