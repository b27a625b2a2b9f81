import { createNewest, type Outcome } from '@lapel/console/base/newest';
import { retryOf, selectorOf, stagesOf } from '@lapel/console/base/rollout-request';
import t from 'tap';

/** The data of a form, in which a field can be there several times. */
function formOf(...fields: [name: string, value: string][]): FormData {
  const data = new FormData();
  for (const [name, value] of fields) data.append(name, value);
  return data;
}

const ROLLOUT = 'rol_0193480f3a5b00112233445566778899';

t.test('the fields of the form make a selector, and empty ones select all devices', async (t) => {
  t.same(selectorOf(formOf(['of', 'match'], ['ofTags', ' '], ['ofVersionIs', 'versionNot'], ['ofVersion', ''])), {});
  t.same(
    selectorOf(
      formOf(
        ['of', 'match'],
        ['ofTags', 'site=osaka, site=kyoto, !old, note=a, b'],
        ['ofPackage', 'com.example.camera'],
        ['ofVersionIs', 'versionRange'],
        ['ofVersion', '>=1.0.0'],
        ['ofFirmwareIs', 'firmwareVersionNot'],
        ['ofFirmware', '9.001.0'],
        ['ofConnected', 'false'],
        ['ofSeenWithin', '3600'],
        ['ofBattery', '30'],
        ['ofCharging', 'true'],
        ['ofNetwork', 'wifi'],
        ['ofStorage', '100'],
        ['ofRollout', ROLLOUT],
        ['ofMemberState', 'failed'],
        ['ofPercent', '5'],
        ['ofSalt', 'x'],
      ),
    ),
    {
      tags: { site: ['osaka', 'kyoto'], old: null, note: 'a, b' },
      package: 'com.example.camera',
      versionRange: '>=1.0.0',
      firmwareVersionNot: '9.001.0',
      connected: false,
      lastSeenWithin: 3600,
      batteryAtLeast: 30,
      charging: true,
      networkType: 'wifi',
      storageFreeAtLeast: 104_857_600,
      rollout: ROLLOUT,
      memberState: 'failed',
      percent: 5,
      salt: 'x',
    },
  );
});

t.test('a list of deviceIds is read as it is pasted, each once', async (t) => {
  const text = ' 490154203237518,490154203237526;\r\n490154203237518\t350000000000011 ';
  t.same(selectorOf(formOf(['of', 'list'], ['ofDevices', text], ['ofTags', 'site=osaka'])), {
    devices: ['490154203237518', '490154203237526', '350000000000011'],
  });
});

t.test('a tag that cannot be read is named', async (t) => {
  t.throws(() => selectorOf(formOf(['ofTags', 'site'])), /"site" is no tag/);
  t.throws(() => selectorOf(formOf(['ofTags', 'old=1, !old'])), /ask for old and for its absence/);
});

t.test('the fields of each stage make a stage', async (t) => {
  const stage = (...values: [string, string, string, string, string]): [string, string][] =>
    ['stageSize', 'stageUnit', 'stageSucceeded', 'stageSoak', 'stageApproval'].map((name, index) => [
      name,
      values[index]!,
    ]);
  t.same(stagesOf(formOf(...stage('5', 'percent', '95', '3600', 'true'), ...stage('20', 'count', '', '3600', ''))), [
    { percent: 5, continueWhen: { succeededPercent: 95, soakFor: 3600 }, approval: true },
    { count: 20 },
  ]);
  t.same(stagesOf(formOf()), []);
});

t.test('failures are tried again only when a code is named', async (t) => {
  const fields: [string, string][] = [
    ['retryAttempts', '3'],
    ['retryAfter', '600'],
  ];
  t.equal(retryOf(formOf(['retryCodes', ' , '], ...fields)), undefined);
  t.same(retryOf(formOf(['retryCodes', 'A, B'], ...fields)), { codes: ['A', 'B'], attempts: 3, after: 600 });
});

t.test('of several requests only the newest counts, whenever the answers come', async (t) => {
  const told: Outcome<string>[] = [];
  const { ask, stop } = createNewest<string>((outcome) => told.push(outcome));
  const requests = Array.from({ length: 3 }, () => ({
    ...Promise.withResolvers<string>(),
    aborted: (): boolean => false,
  }));
  for (const request of requests)
    ask((signal) => {
      request.aborted = () => signal.aborted;
      return request.promise;
    });
  const [first, second, third] = requests as [(typeof requests)[0], (typeof requests)[0], (typeof requests)[0]];
  t.same([first.aborted(), second.aborted(), third.aborted()], [true, true, false]);
  third.resolve('third');
  await third.promise;
  first.resolve('first');
  second.reject(new Error('second'));
  await Promise.allSettled([first.promise, second.promise]);
  t.same(told, [{ value: 'third' }]);
  ask(() => Promise.reject(new Error('fourth')));
  await new Promise((resolve) => setImmediate(resolve));
  t.match(told[1], { error: { message: 'fourth' } });
  stop();
});
