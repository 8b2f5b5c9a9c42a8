/**
 * Remembers the results of a check of a pack for the next check of the same pack. A stage's result is reused while its
 * inputs are the same. A check without a memory begins with an empty one, so all checks run the same code and find the
 * same problems and mappings. docs/decisions/0430-checks-remember-their-parts.md
 */
import { Memo } from '../../../common/memo.ts';
import type { Catalog } from '../../../sql/catalog.ts';
import type { Codec } from '../../codecs/codec.ts';
import type { Mapping } from '../../model.ts';
import type { LoadedCodeMap, RowsCodeMap } from '../codes/codes.ts';
import { type AskedSystems, asking, type Systems } from '../codes/system.ts';
import type { ReadFragments } from '../macros/fragments.ts';
import type { Draft } from '../macros/macros.ts';
import { createReport, type Problem, type Report } from '../problem.ts';
import type { PackFile } from '../read/files.ts';
import { readYaml } from '../read/read.ts';
import { reuse, type Tree } from '../read/tree.ts';
import type { OpenDraft } from '../rows/source.ts';
import type { MappingSettings, Settings } from './settings.ts';
import type { Unit } from './unit.ts';

/** The result of a stage and the problems that it reported. */
export interface StageResult<T> {
  readonly made: T;
  readonly problems: readonly Problem[];
}

/** A result that also depends on lookups of code systems. */
interface StageResultBySystems<T> extends StageResult<T> {
  readonly asked: AskedSystems;
}

/** The drafts of one document, with the fragments that it looked up and those that it uses. */
interface ExpandedDocument extends StageResult<readonly Draft[]> {
  readonly read: ReadFragments;
  readonly used: ReadonlySet<string>;
}

/** The rows of the drafts of one document. */
export interface OpenedGroup extends StageResult<readonly OpenDraft[]> {
  readonly unit: Unit;
}

/** The mappings of one document, with the problems of each of its drafts. */
export interface ResolvedGroup {
  readonly mappings: readonly Mapping[];
  /** Problems of rows that were opened again. */
  readonly opening: readonly Problem[];
  readonly problems: readonly (readonly Problem[])[];
  readonly unit: Unit;
}

export class PackMemory {
  readonly yaml = new Memo<StageResult<readonly Tree[]>>();
  readonly shapes = new Memo<StageResult<boolean>>();
  readonly settings = new Memo<StageResult<Settings>>();
  readonly mappingSettings = new Memo<MappingSettings>();
  readonly lock = new Memo<StageResult<Catalog | undefined>>();
  readonly tablesNamed = new Memo<readonly string[]>();
  readonly words = new Memo<ReadonlySet<string>>();
  readonly reports = new Memo<StageResult<undefined>>();
  readonly codeMap = new Memo<StageResultBySystems<LoadedCodeMap | undefined>>();
  readonly codeTable = new Memo<StageResultBySystems<RowsCodeMap>>();
  readonly hierarchies = new Memo<StageResult<ReadonlyMap<string, readonly string[]>>>();
  readonly patched = new Memo<StageResult<Tree>>();
  readonly drafts = new Memo<ExpandedDocument>();
  readonly ids = new Memo<StageResult<void>>();
  readonly opened = new Memo<OpenedGroup>();
  readonly resolved = new Memo<ResolvedGroup>();
  /** The trees of each file when last read without an error: a text that is briefly invalid YAML loses nothing. */
  readonly #read = new Map<string, readonly Tree[]>();
  #codecs: { readonly settings: object; readonly codecs: Map<string, Codec> } | undefined;

  /** Returns the trees of a file. Unchanged parts at the same position are the same objects as before. */
  readYaml({ path, text }: Pick<PackFile, 'path' | 'text'>, report: Report): readonly Tree[] {
    return this.cached(this.yaml, path, [text], report, own => {
      const before = this.#read.get(path) ?? [];
      const trees = readYaml(path, text, own).map((tree, i) => reuse(before[i], tree));
      if (own.problems().length === 0) this.#read.set(path, trees);
      return trees;
    });
  }

  /** Returns the trees of a file when it was last read without an error. */
  lastTrees(file: Pick<PackFile, 'path' | 'text'>): readonly Tree[] {
    this.readYaml(file, createReport());
    return this.#read.get(file.path) ?? [];
  }

  /** Runs a stage that reports, or reuses its last result and problems. */
  cached<T>(
    memo: Memo<StageResult<T>>,
    key: string,
    inputs: readonly unknown[],
    report: Report,
    work: (report: Report) => T,
  ): T {
    const { made, problems } = memo.get(key, inputs, () => withOwnReport(work));
    report.take(problems);
    return made;
  }

  /**
   * Like `cached`, for a stage that looks up code systems by alias: its result is reused while the answers are the
   * same.
   */
  cachedBySystems<T>(
    systems: Systems,
    memo: Memo<StageResultBySystems<T>>,
    key: string,
    inputs: readonly unknown[],
    report: Report,
    work: (report: Report, systems: Systems) => T,
  ): T {
    const read = (): StageResultBySystems<T> => {
      const asked = asking(systems);
      return { ...withOwnReport(own => work(own, asked.systems)), asked };
    };
    const { made, problems } = memo.get(key, inputs, read, ({ asked }) => asked.isUnchanged(systems));
    report.take(problems);
    return made;
  }

  /** Returns the codecs that conditions share. They depend on the settings. */
  codecsOf(settings: object): Map<string, Codec> {
    if (this.#codecs?.settings !== settings) this.#codecs = { settings, codecs: new Map() };
    return this.#codecs.codecs;
  }

  /** Ends a check: forgets what it did not use. */
  turn(): void {
    for (const memo of [
      ...[
        this.yaml,
        this.shapes,
        this.settings,
        this.mappingSettings,
        this.lock,
        this.reports,
        this.codeMap,
        this.codeTable,
        this.hierarchies,
      ],
      ...[this.tablesNamed, this.words, this.patched, this.drafts, this.ids, this.opened, this.resolved],
    ])
      memo.turn();
    for (const path of this.#read.keys()) if (this.yaml.last(path) === undefined) this.#read.delete(path);
  }
}

/** Runs a stage with a report of its own. */
export function withOwnReport<T>(work: (report: Report) => T): StageResult<T> {
  const report = createReport();
  const made = work(report);
  return { made, problems: report.problems() };
}
