export type ApkFault =
  /** The file is not a zip archive, or ends too early. */
  | 'not_an_archive'
  /** Two parts of the archive do not fit together, such as a file's header and its entry in the directory. */
  | 'archive_damaged'
  | 'manifest_missing'
  /** The manifest is not binary XML, or parts of it do not fit together. */
  | 'manifest_damaged'
  /** Reading the file would exceed a limit: of bytes, reads, memory or time. */
  | 'too_large'
  /**
   * The file is legal, but uses a feature that this reader lacks: encryption, another compression, a reference to a resource
   * that its table does not have for all devices.
   */
  | 'unsupported';

/**
 * The file is not an APK that can be read. Errors of the transport or the disk are thrown as they are, never as an ApkError.
 */
export class ApkError extends Error {
  readonly reason: ApkFault;

  constructor(reason: ApkFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ApkError';
    this.reason = reason;
  }
}
