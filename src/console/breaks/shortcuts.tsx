// The keys of the pages of breaks. What each key does is declared where it is used.
import { KeysCard } from '../kit/break-parts.js';
import type { TextKey } from '../texts.js';
import { keyOfAction, type PageAction } from './open-actions.js';
import { useVisit } from '../visit.js';

/** A letter is written as keyboards show it. */
export function Key({ of }: { of: string }) {
  return <kbd>{of.length === 1 ? of.toUpperCase() : of}</kbd>;
}

type Shortcut = readonly [keys: string, does: TextKey];

const onEachPage: readonly Shortcut[] = [
  ['Esc', 'breaks.keys.back'],
  ['?', 'breaks.keys.help'],
];

/** Of the list, and of the break that is chosen in it. */
export function ListShortcuts() {
  const own: Shortcut[] = [
    ['J / K', 'breaks.keys.move'],
    ['Enter', 'breaks.keys.open'],
    ['x', 'breaks.keys.tick'],
    ['1 – 9', 'breaks.keys.choose'],
    ['f', 'breaks.keys.pick'],
    ...ofActions(Object.keys(keyOfAction) as (keyof typeof keyOfAction)[]),
    ...ofPlans,
    ['n', 'breaks.keys.next'],
    ...onEachPage,
  ];
  return <Shortcuts shortcuts={own} />;
}

const ofPlans: readonly Shortcut[] = [
  ['m', 'breaks.action.assign'],
  ['z', 'breaks.action.snooze'],
];

const ofActions = (actions: readonly (PageAction | 'comment')[]) =>
  actions.map((one): Shortcut => [keyOfAction[one], `breaks.action.${one}`]);

export function BreakShortcuts({ actions }: { actions: readonly PageAction[] }) {
  const own: Shortcut[] = [
    ...(actions.includes('link')
      ? ([
          ['1 – 9', 'breaks.keys.choose'],
          ['f', 'breaks.keys.pick'],
          ['J / K', 'breaks.keys.move'],
        ] as const)
      : []),
    ...ofActions(actions.length > 0 ? [...actions, 'comment'] : []),
    ...(actions.length > 0 ? ofPlans : []),
    ['n', 'breaks.keys.next'],
    ...onEachPage,
  ];
  return <Shortcuts shortcuts={own} />;
}

function Shortcuts({ shortcuts }: { shortcuts: readonly Shortcut[] }) {
  const { t } = useVisit();
  return (
    <KeysCard
      title={t('breaks.keys')}
      keys={shortcuts.map(([keys, does]) => [<Key of={keys} />, t(does)])}
    />
  );
}
