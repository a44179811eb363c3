import type { ScenarioKind } from './scenario.js';

export interface Mutant {
  scenario: ScenarioKind;
  kills?: string[];
  finding: RegExp;
}
export const mutants: Record<string, Mutant | undefined>;
