import { span, type VNode } from '../base/elements.ts';
import { count } from '../base/format.ts';
import { filesOf, type UploadedFile } from '../base/uploaded-files.ts';
import { bareId, said } from './show.ts';
import { rowsTable } from './table.ts';

/** The files that a device has uploaded to the store of the customer, as its result names them. */
export function uploadedFiles(result: unknown): VNode | null {
  const rows = filesOf(result);
  if (rows === null) return null;
  return rowsTable<UploadedFile>({
    label: 'Files in the store of the customer',
    keyOf: (file) => String(rows.indexOf(file)), // a device may send one fileId twice
    rows,
    columns: [
      { name: 'File', kind: 'lead', cell: ({ name }) => said(name) },
      { name: 'Kind', kind: 'short', cell: ({ kind }) => said(kind) },
      { name: 'Bytes', kind: 'right', cell: ({ size }) => span({ class: 'num' }, count(size)) },
      { name: 'SHA-256', cell: ({ sha256 }) => bareId(sha256) },
    ],
  });
}
