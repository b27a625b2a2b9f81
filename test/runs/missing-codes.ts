import { ERRORS, type ErrorCode } from '@lapel/schemas/contracts/errors';

/** They end a start, so no client receives them. Tests of the settings and of the data folder expect them as thrown. */
const AT_START: readonly ErrorCode[] = ['DATA_FOLDER_IN_USE', 'SETTING_INVALID'];

/** The codes that are not in a record of received codes. */
export function missingCodes(record: string, codes = Object.keys(ERRORS)): string[] {
  const received = new Set<string>([...record.split('\n'), ...AT_START]);
  return codes.filter((code) => !received.has(code));
}
