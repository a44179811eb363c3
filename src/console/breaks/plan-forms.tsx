// The forms that say who works on breaks, and until when they are put off.
import { FieldForm, type FormFields } from '../kit/form.js';
import type { TextKey } from '../texts.js';
import { sessionOf, useVisit, type Visit } from '../visit.js';
import type { Assignee } from './break-words.js';
import { Key } from './shortcuts.js';

export interface PlannedBreaks {
  ids: readonly string[];
  people: readonly Assignee[];
  /** Of one break: what it has now. */
  plan?: { assignee: string | null; snoozedUntil: string | null };
  /** Resolved breaks are not put off. */
  isOpen: boolean;
  address: URLSearchParams;
}

export const planFields = ({ t }: Visit, people: readonly Assignee[]) =>
  ({
    assign: {
      assignee: {
        label: 'breaks.assignee',
        is: 'choice',
        options: [['', t('breaks.unassigned')], ...people],
      },
    },
    snooze: { until: { label: 'breaks.snoozedUntil', is: 'date', hint: 'breaks.snooze.hint' } },
  }) satisfies Record<string, FormFields>;

/** What each form opens by. */
const keys = { assign: 'm', snooze: 'z' } as const;
export type PlanChange = keyof typeof keys;

export function PlanForms({ ids, people, plan, isOpen, address }: PlannedBreaks) {
  const visit = useVisit();
  const { t, to, path } = visit;
  const fields = planFields(visit, people);
  const own = sessionOf(visit).operatorId;
  const values = {
    assign: { assignee: plan?.assignee ?? own },
    snooze: { until: plan?.snoozedUntil },
  };
  const changes: PlanChange[] = isOpen ? ['assign', 'snooze'] : ['assign'];
  return (
    <>
      {changes.map((change) => {
        const action = to(`breaks/${change}`);
        const title: TextKey = `breaks.action.${change}`;
        return (
          <details open={path === action || plan === undefined} data-key={keys[change]}>
            <summary>
              {t(title)} <Key of={keys[change]} />
            </summary>
            <FieldForm
              {...{ fields: fields[change], values: values[change], hidden: { break: ids } }}
              action={`${action}?${address.toString()}`}
              button={title}
            />
          </details>
        );
      })}
    </>
  );
}
