import t from 'tap';
import { makeConsole } from '../../src/edge/pages/make/make-console.ts';

t.test('consoles that several services of a process make at the same time are all made', async (t) => {
  const [one, other] = await Promise.all([makeConsole(), makeConsole()]);
  t.ok(one.files['main.js'].length > 0);
  t.same(other.files, one.files);
  t.same((await makeConsole()).files, one.files, 'and one that is made later');
});
