import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { type Loading, useLoad } from './load.ts';
import { operation, read } from './requests.ts';
import { session } from './session.ts';

type OwnAccess = SchemaTypes['rest/own-access'];

/** Reads which application is signed in, and whose it is. */
export const useOwnAccess = (): Loading<OwnAccess> =>
  useLoad(`access of ${session.value?.applicationId ?? ''}`, (signal) =>
    read<OwnAccess>(operation('readOwnAccess'), { signal }),
  );
