import { ERRORS } from '@lapel/schemas/contracts/errors';
import t from 'tap';
import { missingCodes } from './missing-codes.ts';

t.test('a code that no client has received is missing from a record', async (t) => {
  const all = Object.keys(ERRORS);
  t.same(missingCodes(all.join('\n')), []);
  t.same(missingCodes('', ['ONE', 'TWO']), ['ONE', 'TWO']);
  t.same(missingCodes('TWO\nTWO\n', ['ONE', 'TWO']), ['ONE']);
  t.same(
    all.filter((code) => !missingCodes('').includes(code)),
    ['DATA_FOLDER_IN_USE', 'SETTING_INVALID'],
    'nobody receives the error of a start',
  );
});
