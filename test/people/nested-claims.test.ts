import t from 'tap';
import { reasonOf, startTwo } from './sign-in-world.ts';
import { createVisitor } from './test-visitor.ts';

t.test('a role is found in a claim inside of other claims', async (t) => {
  const { world, company } = await startTwo(t, { ofCompany: { roleClaim: 'realm_access.roles' } });
  company.state.subject = 'ada';
  company.accounts.set('ada', { name: 'Ada' });

  /** Signs in with these claims; returns the role, or the reason of the refusal. */
  async function signIn(claims: Record<string, unknown>): Promise<unknown> {
    company.state.lie = claims;
    const ada = createVisitor(world.service.addresses.admin);
    const done = await ada.signIn('company');
    return reasonOf(done) ?? (await ada.ask('/console/session')).body.role;
  }

  t.equal(await signIn({ realm_access: { roles: ['operators'] } }), 'operator', 'as Keycloak writes it');
  const both = { 'realm_access.roles': ['readers'], realm_access: { roles: ['operators'] } };
  t.equal(await signIn(both), 'reader', 'a claim whose own name has the dot comes first');
  for (const claims of [
    { realm_access: null },
    { realm_access: 'roles' },
    { realm_access: {} },
    { realm_access: { roles: { roles: ['operators'] } } },
    { roles: ['operators'] },
  ])
    t.equal(await signIn(claims), 'SIGN_IN_NO_ROLE', JSON.stringify(claims));
});
