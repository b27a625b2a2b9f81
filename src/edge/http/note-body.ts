import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Note } from '../../core/devices/note-repository.ts';
import { toUtc } from '../../runtime/clock.ts';

export const noteBody = ({ createdAt, ...note }: Note): SchemaTypes['common/device-note'] => ({
  ...note,
  createdAt: toUtc(createdAt),
});

export const noteList = (notes: readonly Note[]): SchemaTypes['common/device-note-list'] => ({
  notes: notes.map(noteBody),
});
