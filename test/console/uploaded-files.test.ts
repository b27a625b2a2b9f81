import { filesOf } from '@lapel/console/base/uploaded-files';
import t from 'tap';

t.test('a result whose files have another form is shown as it is, without the table', (t) => {
  const file = { kind: 'logs', fileId: 'f', name: 'log.txt', size: 12, sha256: 'ab'.repeat(32) };
  t.same(filesOf({ files: [file] }), [file]);
  for (const changed of [{ kind: 1 }, { fileId: null }, { name: { a: 1 } }, { size: '12' }, { sha256: undefined }])
    t.equal(filesOf({ files: [file, { ...file, ...changed }] }), null, JSON.stringify(changed));
  for (const files of [undefined, null, 'x', {}, [], [null], [1]]) t.equal(filesOf({ files }), null);
  for (const result of [null, undefined, 1, 'x', []]) t.equal(filesOf(result), null);
  t.end();
});
