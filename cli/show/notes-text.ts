import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Text } from './look.ts';
import { oneLine } from './plain-text.ts';
import { timeText } from './table.ts';

type Note = SchemaTypes['common/device-note'];

/** Notes on a device: for each its time in UTC, its author and noteId, then its text, with the lines that it has. */
export const notesText =
  (notes: readonly Note[]): Text =>
  ({ paint }) =>
    notes.length === 0
      ? 'no notes\n'
      : notes
          .map(({ createdAt, author, noteId, text }) => {
            const lines = text.split(/\r?\n/).map((line) => `  ${oneLine(line)}`.trimEnd());
            return `${paint('dim', timeText(createdAt))}  ${oneLine(author)}  ${paint('dim', noteId)}\n${lines.join('\n')}\n`;
          })
          .join('\n');
