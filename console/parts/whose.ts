import { span, use, type VNode } from '../base/elements.ts';
import { useOwnAccess } from '../base/own-access.ts';
import { session } from '../base/session.ts';
import { id, said } from './show.ts';

function Whose() {
  const { value } = useOwnAccess().state.value;
  const { applicationId } = session.value ?? {};
  return span(
    { class: 'whose' },
    value ? span(null, said(value.applicationName), ' of ', said(value.developerName)) : null,
    applicationId ? span({ class: 'small quiet' }, id(applicationId)) : null,
  );
}

/** Says which application is signed in, and of which developer, with its identifier to copy. */
export const whose = (): VNode => use(Whose, {});
