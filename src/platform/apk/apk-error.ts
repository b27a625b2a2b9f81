export type ApkFault =
  /** The file is not a zip archive, or ends too early. */
  | 'not_an_archive'
  /** The archive contradicts itself. */
  | 'archive_damaged'
  | 'manifest_missing'
  /** The manifest is not binary XML, or contradicts itself. */
  | 'manifest_damaged'
  /** Reading the file would exceed a bound (bytes, number of reads, memory, time). */
  | 'too_large'
  /**
   * The file is legal, but uses a feature that this reader lacks: encryption, another compression, references to resources.
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
