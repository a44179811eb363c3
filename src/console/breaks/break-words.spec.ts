// Every stored word of a break has a text.
import { describe, expect, it } from '@jest/globals';
import { unknownReasons } from '../../bank/response-classification.js';
import {
  DisputeKind,
  DisputeStatus,
  LineOutcomeState,
  UnreadableLineKind,
} from '../../generated/service/client.js';
import { candidateReasons } from '../../reconciliation/breaks/candidate-ranking.js';
import { severities } from '../../reconciliation/breaks/severity.js';
import { writeTaxId } from '../formats.js';
import { findTextKey, translateInto, wordOf } from '../texts.js';
import { refusalOfCode } from './break-words.js';
import { evidenceFacts, evidenceNames } from './evidence-facts.js';

describe('a word that is stored of a break', () => {
  it.each([
    ['severity', severities],
    ['breaks.state', ['open', 'resolved']],
    ['breaks.resolution', ['automatic', 'link', 'accept', 'refund']],
    ['breaks.reason', candidateReasons],
    ['line.state', Object.values(LineOutcomeState)],
    ['evidence', evidenceNames],
    ['evidence.word', Object.values(DisputeKind)],
    ['evidence.word', Object.values(DisputeStatus)],
    ['evidence.word', Object.values(UnreadableLineKind)],
    ['evidence.word', [...unknownReasons, 'interrupted']],
  ])('has a text of %s', (prefix, values) => {
    expect(values.length).toBeGreaterThan(0);
    expect(values.filter((value) => !findTextKey(`${prefix}.${value}`))).toEqual([]);
  });

  it('of a later version is shown as another one, or as it is', () => {
    const t = translateInto('en');
    expect(wordOf(t, 'breaks.source', 'create_loan', 'breaks.source.other')).toBe(
      'Another operation',
    );
    expect(refusalOfCode(t, 'too_late')).toBe('The service refused the action (too_late).');
  });
});

describe('evidence', () => {
  it('is shown by its declared fields that have a value', () => {
    const evidence = { owed: '10.5', paid: null, attempts: 3, jumps: [], other: 'x' };
    expect(evidenceFacts(evidence)).toEqual([
      { name: 'owed', format: 'reais', text: '10.5' },
      { name: 'attempts', format: 'count', text: '3' },
    ]);
    expect(evidenceFacts(null)).toEqual([]);
  });
});

describe('a CPF or CNPJ', () => {
  it.each([
    ['52998224725', '529.982.247-25'],
    ['***.982.247-**', '***.982.247-**'],
  ])('%s is written as %s', (text, written) => {
    expect(writeTaxId(text)).toBe(written);
  });
});
