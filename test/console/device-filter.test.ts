import { conditionsOf, filterOf, filterWords, queryOf } from '@lapel/console/base/device-filter';
import { fieldsOf, listSelector, unfitFor } from '@lapel/console/base/list-selector';
import { createKeys } from '@lapel/console/base/request-key';
import { tagChangesOf } from '@lapel/console/base/tag-changes';
import t from 'tap';

t.test('the address of the list is the filter of an action, and leads back to the same list', async (t) => {
  const query = {
    prefix: '35',
    tag: 'site=osaka, !old',
    connected: 'false',
    blocked: 'true',
    batteryBelow: '20',
    notSeenFor: '7d',
    sort: '-lastSeen',
    after: '490154203237518',
    developerId: undefined,
  };
  const filter = filterOf(query);
  t.same(filter, {
    prefix: '35',
    tag: ['site=osaka', '!old'],
    connected: false,
    blocked: true,
    batteryBelow: 20,
    notSeenFor: '7d',
  });
  const { sort: _, after: __, developerId: ___, ...same } = query;
  t.same(queryOf(filter), same);
  t.same(conditionsOf(filter).slice(1, 3), [
    ['Tags', 'site=osaka, !old'],
    ['Connected', 'no'],
  ]);
  t.equal(filterWords({}), 'all devices');
  t.equal(filterWords({ firmware: 'abc\u202Efed' }), 'Firmware: abc⟨U+202E⟩fed', 'no text can deceive');
});

t.test('the list of an application is a selector, unless it has a filter that selectors do not have', async (t) => {
  const query = { tag: 'site=osaka', connected: 'true', firmware: '9', package: 'com.example', version: '1.0.0' };
  t.same(listSelector(query), {
    tags: { site: 'osaka' },
    connected: true,
    firmwareVersion: '9',
    package: 'com.example',
    version: '1.0.0',
  });
  t.same(fieldsOf(query), {
    ofTags: 'site=osaka',
    ofConnected: 'true',
    ofPackage: 'com.example',
    ofVersionIs: 'version',
    ofVersion: '1.0.0',
    ofFirmwareIs: 'firmwareVersion',
    ofFirmware: '9',
  });
  t.same(unfitFor({ ...query, activation: 'activated' }), []);
  t.same(unfitFor({ batteryBelow: '20', batteryFrom: '10', activation: 'activating' }), [
    'the filter for the battery',
    'the filter for the activation',
  ]);
});

t.test('changes of tags are read from two fields, and a fault is named', async (t) => {
  const read = (set: string, remove: string): unknown => {
    const data = new FormData();
    data.append('set', set);
    data.append('remove', remove);
    return tagChangesOf(data);
  };
  t.same(read('wave=1, note=a, b', 'old, ring'), { wave: '1', note: 'a, b', old: null, ring: null });
  t.throws(() => read('wave', ''), { message: '"wave" is no tag: write key=value.' });
  t.throws(() => read('wave=1', 'wave'), { message: /both set and removed/ });
  t.throws(() => read(' ', ' ,'), { message: /Name a tag/ });
});

t.test('the same request has the same key, and another one has another', async (t) => {
  const keyOf = createKeys();
  const first = keyOf({ a: 1 });
  t.equal(keyOf({ a: 1 }), first);
  t.not(keyOf({ a: 2 }), first);
});
