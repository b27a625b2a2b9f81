/** A file of diagnostics in the store of the customer. */
export interface UploadedFile {
  kind: string;
  fileId: string;
  name: string;
  size: number;
  sha256: string;
}

function isFile(value: unknown): value is UploadedFile {
  const { kind, fileId, name, size, sha256 } = (value ?? {}) as Record<string, unknown>;
  return [kind, fileId, name, sha256].every((text) => typeof text === 'string') && typeof size === 'number';
}

/** The files of a result of `collectDiagnostics`; null where the device sent something else. */
export function filesOf(result: unknown): readonly UploadedFile[] | null {
  const { files } = (result ?? {}) as { files?: unknown };
  return Array.isArray(files) && files.length > 0 && files.every(isFile) ? files : null;
}
