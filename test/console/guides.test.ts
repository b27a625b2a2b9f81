import { GUIDES } from '@lapel/console/base/guides';
import t from 'tap';
import { makeSite } from '../../src/edge/docs/make/make-site.ts';

t.test('each page of the consoles leads to a place of the documents that exists', async (t) => {
  const site = await makeSite('9999-12');
  for (const [role, guides] of Object.entries(GUIDES))
    for (const [page, guide] of Object.entries(guides)) {
      const [name, anchor] = guide.split('#');
      const text = site.get(`${name}.html`);
      t.ok(text, `${role} ${page}: ${guide}`);
      if (anchor !== undefined) t.match(text, `id="${anchor}"`, `${role} ${page}: ${guide}`);
    }
});
