import { span, type VNode } from '../base/elements.ts';
import { count } from '../base/format.ts';
import { bareId, said } from './show.ts';
import { rowsTable } from './table.ts';

interface UploadedFile {
  kind: string;
  fileId: string;
  name: string;
  size: number;
  sha256: string;
}

/** The files of a result of `collectDiagnostics`; null where the device sent something else. */
function filesOf(result: unknown): readonly UploadedFile[] | null {
  const { files } = (result ?? {}) as { files?: unknown };
  const isFile = (file: unknown): file is UploadedFile => typeof (file as UploadedFile | null)?.sha256 === 'string';
  return Array.isArray(files) && files.length > 0 && files.every(isFile) ? files : null;
}

/** The files that a device has uploaded to the store of the customer, as its result names them. */
export function uploadedFiles(result: unknown): VNode | null {
  const rows = filesOf(result);
  if (rows === null) return null;
  return rowsTable<UploadedFile>({
    label: 'Files in the store of the customer',
    keyOf: ({ fileId }) => fileId,
    rows,
    columns: [
      { name: 'File', kind: 'lead', cell: ({ name }) => said(name) },
      { name: 'Kind', kind: 'short', cell: ({ kind }) => said(kind) },
      { name: 'Bytes', kind: 'right', cell: ({ size }) => span({ class: 'num' }, count(size)) },
      { name: 'SHA-256', cell: ({ sha256 }) => bareId(sha256) },
    ],
  });
}
