import t from 'tap';

const folders = new Set<string>();
for (let count = 0; count < 2; count += 1)
  t.test('tests with one name have folders of their own', async (t) => {
    const folder = t.testdir();
    t.notOk(folders.has(folder), folder);
    folders.add(folder);
  });
