// The codes by which a charge or a bill is paid, drawn and as texts.
import type { TextKey } from '../texts.js';
import { Button, Cards, Folded, Hint } from './elements.js';
import { useVisit } from '../visit.js';

/** Folded where nothing is to be paid any more. */
export function CodesCard({
  title = 'payment.codes',
  codes: { digitableLine, pixCode },
  drawings,
  isOpen = false,
}: {
  title?: TextKey;
  codes: { digitableLine: string | null; pixCode: string | null };
  /** As SVG. */
  drawings: { barCode: string | null; qrCode: string | null };
  isOpen?: boolean;
}) {
  const { t } = useVisit();
  if (digitableLine === null && pixCode === null) return null;
  return (
    <Folded title={t(title)} open={isOpen}>
      <Cards>
        {pixCode !== null && (
          <div>
            {drawings.qrCode !== null && (
              <Drawing name={t('payment.qrCode')} class="qr" svg={drawings.qrCode} />
            )}
            <CodeText label={t('payment.pixCode')} text={pixCode} />
          </div>
        )}
        {digitableLine !== null && (
          <div>
            {drawings.barCode !== null && (
              <Drawing name={t('word.barCode')} class="bars" svg={drawings.barCode} />
            )}
            <CodeText label={t('payment.digitableLine')} text={digitableLine} />
          </div>
        )}
      </Cards>
      <Hint isBlock>{t('payment.copyHint')}</Hint>
    </Folded>
  );
}

function Drawing({ name, class: className, svg }: { name: string; class: string; svg: string }) {
  // The SVG is drawn from digits and squares: nothing of the text is in it.
  return (
    <div class={className} role="img" aria-label={name} dangerouslySetInnerHTML={{ __html: svg }} />
  );
}

/** A text to copy: a click marks all of it. With a script, a button copies it. */
export function CodeText({ label, text }: { label: string; text: string }) {
  const { t } = useVisit();
  return (
    <>
      <label>
        {label}
        <input class="code" readOnly value={text} />
      </label>
      <Button is="plain" type="button" hidden data-copy={t('app.copied')}>
        {t('app.copy')}
      </Button>
    </>
  );
}
