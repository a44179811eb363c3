// What a page of the console is: its place in the menu, and what its methods return.
import type { Readable } from 'node:stream';
import type { VNode } from 'preact';
import type { AppError } from '../platform/errors.js';
import type { AuditedActionName, AuditedSubject } from '../access/people/audited-actions.js';
import type { Action } from '../access/people/roles.js';
import type { ListedView } from '../access/people/saved-views.service.js';
import type { Table } from '../reporting/exports/table.js';
import type { Visit } from './visit.js';
import type { TextKey } from './texts.js';

/**
 * Who may open a page: anybody, somebody whose password was accepted, somebody who is signed in, or
 * a person whose role in the account of the path allows the action.
 */
export type Needs = 'nobody' | 'password' | 'session' | Action;

/** The parts of the menu, in its order. */
export const sections = [
  'today',
  'breaks',
  'payments',
  'statement',
  'files',
  'approvals',
  'connections',
  'settings',
] as const;
export type Section = (typeof sections)[number];

/** The place of a page in the menu. */
export interface MenuPlace {
  title: TextKey;
  section: Section;
  place: number;
  /** The page controls the sandbox bank: with another bank it is not there. */
  isOfSandbox?: boolean;
}

/** What an action is of, for the audit. `:id` is that id of the path, `:account` its slug. */
export type SubjectOf = AuditedSubject | ((visit: Visit) => AuditedSubject);

/** What the audit records of an action before it is done. */
export interface ActionRecord {
  action: AuditedActionName;
  subject: SubjectOf;
}

export interface MenuEntry extends MenuPlace {
  path: string;
  needs: Action;
}

/** The declared pages with a place in the menu. */
export const menu: MenuEntry[] = [];

/**
 * What a page shows, in the frame. A request that refreshes the page gets the `part` with that
 * element's id, without the frame.
 */
export class Shown {
  constructor(
    readonly title: string,
    readonly body: VNode,
    readonly options: {
      status?: number;
      /** Why the form before was refused: the audit records its code. */
      problem?: AppError;
      cookies?: string[];
      isNarrow?: boolean;
      part?: VNode;
      headers?: Record<string, string>;
    } = {},
  ) {}
}

/** Another page, after a form: reloading it sends nothing again. */
export class Redirect {
  constructor(
    readonly to: string,
    readonly cookies: string[] = [],
  ) {}
}

/** A file, produced as fast as the browser reads it. */
export class Download {
  constructor(
    readonly body: Readable,
    readonly name: string,
    readonly contentType: string,
  ) {}
}

/** What a list shows as a page, and all its filters find as a file. */
export class DeclaredList {
  constructor(
    /** Below the views that were saved of the list. */
    readonly page: (views: readonly ListedView[]) => Promise<Shown>,
    readonly file: () => Promise<ListFile>,
    /** `name`: as a saved view names it. */
    readonly options: Pick<Shown['options'], 'status' | 'problem'> & { name: string },
  ) {}
}

/** The cells of a row, as its columns have them. */
export type ListFileRow = readonly (string | bigint | null)[];

export interface ListFile {
  table: Table<ListFileRow>;
  chunks: AsyncIterable<ListFileRow[]>;
}

/** Events for an open page, in the format of server-sent events. */
export class EventStream {
  constructor(readonly body: Readable) {}
}

export type PageAnswer = Shown | DeclaredList | Redirect | Download | EventStream;
