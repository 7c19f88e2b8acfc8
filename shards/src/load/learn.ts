import { ByteTable, grown } from "./byte-table.ts";
import { type Input, namedInputs } from "./input.ts";
import { type PassOptions, type ReadInput, readStatements } from "./read-statements.ts";
import { hasGraph, type Statement } from "./statement.ts";
import { SubjectClasses } from "./subject-classes.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { compareText } from "../../../src/rdf/canonical.ts";

const rdfType = Buffer.from("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>");
const less = 0x3c;

/** Subjects without a type that are remembered; beyond that only their triples are known to be there. */
const maxUntyped = 1_000_000;

/** Facts about the dataset from one pass over the inputs. */
export interface Learned {
  readonly inputs: readonly ReadInput[];
  /** Statements in the inputs, repetitions too. */
  readonly statements: number;
  /** Bytes of these statements as canonical lines. */
  readonly statementBytes: number;
  /** There are statements in named graphs, so that N-Quads are written. */
  readonly hasGraphs: boolean;
  readonly subjects: SubjectClasses;
  /** Subjects that no class is known of; `isAtLeast`: there may be more. */
  readonly untyped: { readonly count: number; readonly isAtLeast: boolean };
  /** Subjects of statements at even distances, sorted by bytes: where to split the dataset. */
  readonly sample: readonly Buffer[];
}

/**
 * Reads the inputs once to learn the classes of their subjects. Memory grows with the number of typed subjects (and of
 * untyped ones up to a cap), not with that of triples.
 * @throws FedwayError `DATASET_INVALID` for inputs that cannot be read
 */
export async function learn(
  inputs: readonly Input[],
  options: PassOptions & { readonly maxUntyped?: number } = {},
): Promise<Learned> {
  const learner = new Learner(options.maxUntyped);
  const named = namedInputs(inputs);
  const found = await readStatements(named, (statement) => learner.take(statement), { ...options, phase: "learn" });
  return learner.learned(found);
}

/** Learns from statements, one after the other. */
export class Learner {
  statements = 0;
  #statementBytes = 0;
  #hasGraphs = false;
  readonly #maxUntyped: number;
  readonly #subjects = new ByteTable();
  readonly #classes = new ByteTable();
  readonly #sets = new ClassSets();
  /** For each subject, the number of its set of classes. */
  #setOf: Uint32Array = new Uint32Array(new SharedArrayBuffer(4096));
  readonly #sample = new SubjectSample();
  #typed = 0;
  #mayMissUntyped = false;
  /** The subject of the statement before. */
  #last = -1;

  constructor(most: number = maxUntyped) {
    this.#maxUntyped = most;
  }

  take(statement: Statement): void {
    const { bytes, start, subjectEnd, predicateEnd, objectEnd, end } = statement;
    this.statements += 1;
    this.#statementBytes += end - start;
    if (hasGraph(statement)) this.#hasGraphs = true;
    this.#sample.take(statement);
    const isType =
      predicateEnd - subjectEnd - 1 === rdfType.length &&
      bytes[predicateEnd + 1] === less &&
      rdfType.compare(bytes, subjectEnd + 1, predicateEnd) === 0;
    const subject = this.#subject(statement, isType);
    if (!isType) return;
    const classNumber = this.#classes.intern(bytes, predicateEnd + 1, objectEnd);
    const before = this.#setOf[subject]!;
    if (before === 0) this.#typed += 1;
    this.#setOf[subject] = this.#sets.with(before, classNumber);
  }

  #subject(statement: Statement, isType: boolean): number {
    if (this.#last >= 0 && this.#subjects.isSubject(this.#last, statement)) return this.#last;
    const { bytes, start, subjectEnd } = statement;
    const isFull = this.#subjects.size - this.#typed >= this.#maxUntyped;
    if (isFull && !isType) {
      this.#last = this.#subjects.find(bytes, start, subjectEnd);
      if (this.#last < 0) this.#mayMissUntyped = true;
      return this.#last;
    }
    this.#last = this.#subjects.intern(bytes, start, subjectEnd);
    if (this.#last >= this.#setOf.length) this.#setOf = grown(this.#setOf);
    return this.#last;
  }

  /** The facts learnt. @param inputs that the statements were read from */
  learned(inputs: readonly ReadInput[]): Learned {
    const subjects = this.#subjects;
    const setOf = this.#setOf.subarray(0, subjects.size);
    const classSets = this.#sets.named((classNumber) => this.#classes.textOf(classNumber).slice(1, -1));
    return {
      inputs,
      statements: this.statements,
      statementBytes: this.#statementBytes,
      hasGraphs: this.#hasGraphs,
      subjects: new SubjectClasses(subjects, setOf, classSets),
      // A subject that was not remembered when it came without a type may have got one later.
      untyped: { count: subjects.size - this.#typed, isAtLeast: this.#mayMissUntyped },
      sample: this.#sample.sorted(),
    };
  }
}

/** Members of all sets together; only hostile data comes near. */
const maxMembers = 20_000_000;

/** Sets of classes by number; 0 is the empty one. */
class ClassSets {
  /** For each set: its classes by number, sorted. */
  readonly #members: (readonly number[])[] = [[]];
  readonly #byMembers = new Map<string, number>([["", 0]]);
  /** By set and class: the set with that class too. */
  readonly #withClass: Map<number, number>[] = [new Map()];
  #memberCount = 0;

  /** The set that has this class too. */
  with(set: number, classNumber: number): number {
    const next = this.#withClass[set]!;
    let found = next.get(classNumber);
    if (found === undefined) {
      found = this.#numberOf(set, classNumber);
      next.set(classNumber, found);
    }
    return found;
  }

  #numberOf(set: number, classNumber: number): number {
    const members = this.#members[set]!;
    if (members.includes(classNumber)) return set;
    const larger = [...members, classNumber].toSorted((left, right) => left - right);
    const key = larger.join(" ");
    const known = this.#byMembers.get(key);
    if (known !== undefined) return known;
    this.#memberCount += larger.length;
    if (this.#memberCount > maxMembers) {
      throw new FedwayError("DATASET_INVALID", "The subjects have too many different combinations of classes.");
    }
    this.#byMembers.set(key, this.#members.length);
    this.#withClass.push(new Map());
    return this.#members.push(larger) - 1;
  }

  /** For each set the IRIs of its classes, sorted. */
  named(iriOf: (classNumber: number) => string): readonly (readonly string[])[] {
    return this.#members.map((members) => members.map(iriOf).toSorted(compareText));
  }
}

const maxTaken = 8192;
const maxSubjectBytes = 1024;

/** Samples the subjects of statements at even distances, which double whenever the sample is full. */
class SubjectSample {
  #taken: Buffer[] = [];
  #stride = 1;
  #seen = 0;

  take({ bytes, start, subjectEnd }: Statement): void {
    this.#seen += 1;
    if (this.#seen % this.#stride !== 0) return;
    // A prefix of a long subject splits as well.
    this.#taken.push(Buffer.from(bytes.subarray(start, Math.min(subjectEnd, start + maxSubjectBytes))));
    if (this.#taken.length < maxTaken) return;
    this.#taken = this.#taken.filter((_, index) => index % 2 === 1);
    this.#stride *= 2;
  }

  sorted(): readonly Buffer[] {
    return this.#taken.toSorted((left, right) => left.compare(right));
  }
}
