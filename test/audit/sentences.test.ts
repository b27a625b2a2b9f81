import t from 'tap';
import { createAdminChanges } from '../../src/edge/admin/changes.ts';
import { ROUTES as ADMIN } from '../../src/edge/admin/routes.ts';
import { createApiChanges } from '../../src/edge/api/changes.ts';
import { ROUTES as API } from '../../src/edge/api/routes.ts';
import { CHANGES, type SaidEntry, sentenceOf } from '../../src/views/change-sentences.ts';

/** Entries that no route table has. */
const OTHERS = ['RENEW /devices/{deviceId}', 'RAISE /numbers', 'SIGN-IN /people', 'lapel owner'];
/** Changes of devices, which are recorded when an assistant asks for them. */
const ASSISTED = [
  'PATCH /v1/applications/{applicationId}/devices/{deviceId}/tags',
  'PATCH /v1/applications/{applicationId}/devices/tags',
  'PUT /v1/applications/{applicationId}/devices/{deviceId}/apps',
  'PUT /v1/applications/{applicationId}/devices/{deviceId}/firmware',
  'PUT /v1/applications/{applicationId}/devices/{deviceId}/settings/lang',
  'PUT /v1/applications/{applicationId}/devices/{deviceId}/connectivity/state',
  'POST /v1/applications/{applicationId}/devices/{deviceId}/diagnostics',
];
/** The stream of changes is recorded when somebody watches a device, which its route does not say. */
const WATCHED = 'GET /admin/v1/feed';

t.test('each request that the audit log records has a sentence, and no other has', async (t) => {
  const unused = {} as never;
  const [admin, api] = [createAdminChanges(unused), createApiChanges(unused)];
  const recorded = [
    ...ADMIN.filter((route) => admin.has(route)),
    ...API.filter((route) => route.scope !== null && api.has(route)),
  ].map(({ method, path }) => `${method} ${path}`);
  t.ok(recorded.length > 80);
  t.same(Object.keys(CHANGES).sort(), [...recorded, ...OTHERS, ...ASSISTED, WATCHED].sort());
});

const ENTRY: SaidEntry = {
  action: '',
  resource: '',
  status: 200,
  actorKind: 'token',
  actorName: null,
  personName: 'Ada',
  displayName: null,
  objects: [],
  details: null,
};

t.test('no sentence has a gap or a brace', async (t) => {
  for (const action of Object.keys(CHANGES)) {
    const resource = (action.split(' ')[1] ?? '').replace(/\{(\w+)\}/g, '$1-1');
    for (const status of [200, null, 409]) {
      const sentence = sentenceOf({ ...ENTRY, action, resource, status });
      t.notMatch(sentence, /[{}]| {2}|undefined|\/v1/, action);
      t.match(sentence, status === 409 ? /^Ada tried to .*, and was refused$/ : /^Ada [a-z]/, action);
    }
  }
});

t.test('a sentence says who did what, with the names that people know', async (t) => {
  const said = (change: Partial<SaidEntry>): string => sentenceOf({ ...ENTRY, ...change });
  const distribute = {
    action: 'POST /v1/applications/{applicationId}/packages/{package}/versions/{version}/distributions',
    resource: '/v1/applications/app_1/packages/com.example.camera/versions/1.1.0/distributions',
  };
  t.equal(said(distribute), 'Ada distributed com.example.camera 1.1.0');
  t.equal(
    said({ ...distribute, personName: null, actorKind: 'application', actorName: 'app_1', displayName: 'Patrol' }),
    'Patrol distributed com.example.camera 1.1.0',
  );
  const pause = { action: 'POST /admin/v1/rollouts/{rolloutId}/pause', resource: '/admin/v1/rollouts/rol_1/pause' };
  const objects = [{ kind: 'rollout', id: 'rol_1', name: 'spring release' }] as const;
  t.equal(said({ ...pause, objects }), 'Ada paused the rollout spring release');
  t.equal(said({ ...pause, objects, status: 409 }), 'Ada tried to pause the rollout spring release, and was refused');
  t.equal(said({ ...pause, personName: null }), 'The administrator token paused the rollout rol_1');
  t.equal(
    said({ action: 'ROLLOUT paused', actorKind: 'service', personName: null, objects }),
    'The service paused the rollout spring release',
  );
  t.equal(
    said({ action: 'DELETE /admin/v1/developers/{developerId}', resource: '/admin/v1/developers/%zz' }),
    'Ada deleted the developer %zz',
    'a path that cannot be decoded',
  );
});
