import type { Child } from '../base/elements.ts';
import { head } from '../parts/head.ts';
import { membersCard } from '../parts/members.ts';

/** The people of the developer, for their admin. */
export const membersPage = (): Child => [
  head({ title: 'People', about: 'Who of the developer uses console and API with a token of their own.' }),
  membersCard(),
];
