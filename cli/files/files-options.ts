import { ADMIN_OPTIONS, APPLICATION_OPTIONS } from '../account/access.ts';
import type { Options } from '../line/options.ts';

/** The folder of the files, where no option names one. */
export const FOLDER = 'lapel';

export const ACCOUNT_OPTIONS = { ...APPLICATION_OPTIONS, ...ADMIN_OPTIONS } satisfies Options;

export const FILE_OPTION = {
  file: { value: 'PATH', short: 'f', file: true, text: `the folder of the files, or one file (${FOLDER})` },
} satisfies Options;
