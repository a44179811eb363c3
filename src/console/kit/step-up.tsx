// The page that asks for a code before a form is sent: the form waits on it, and is sent with the
// code.
import { ButtonLink, Message } from './elements.js';
import { FormCard, type FormFields } from './form.js';
import { Shown } from '../page.js';
import { heldField } from '../requests.js';
import type { Visit } from '../visit.js';
import type { TextKey } from '../texts.js';

export const codeFields = (label: TextKey, hasLetters = false): FormFields => ({
  code: {
    label,
    ...(hasLetters ? {} : { inputMode: 'numeric' }),
    autocomplete: 'one-time-code',
    maxLength: 20,
    required: true,
    autofocus: true,
  },
});

/** Who confirms at the provider does so in another tab, and sends the form from this one. */
export function codeFirstPage(visit: Visit, held: string, isWrong: boolean): Shown {
  const { t, path, query, cameFrom, confirmsAtProvider } = visit;
  const body = (
    <FormCard
      action={query.size > 0 ? `${path}?${query.toString()}` : path}
      button={confirmsAtProvider ? 'app.send' : 'stepUp.confirm'}
      hidden={{ [heldField]: held }}
      fields={confirmsAtProvider ? {} : codeFields('code.labelOnly')}
      isSent={false}
    >
      {isWrong && <Message kind="bad">{t('code.wrong')}</Message>}
      <p>{t(confirmsAtProvider ? 'stepUp.heldThere' : 'stepUp.held')}</p>
      {confirmsAtProvider && (
        <ButtonLink
          href={`/console/sso?confirm&next=${encodeURIComponent(cameFrom)}`}
          target="_blank"
        >
          {t('sso.confirm')}
        </ButtonLink>
      )}
    </FormCard>
  );
  const title = t(confirmsAtProvider ? 'sso.confirmTitle' : 'stepUp.title');
  return new Shown(title, body, { isNarrow: true, status: isWrong ? 422 : 403 });
}
