import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { logLines, MAX_LINE_LENGTH } from "../../src/agents/LogLines.ts"

const linesOf = (chunks: ReadonlyArray<string>) =>
  Stream.runCollect(logLines(Stream.fromIterable(chunks.map((chunk) => new TextEncoder().encode(chunk)))))

describe("log lines of an agent", () => {
  it.effect.each([
    ["whole lines", ["a\nb\n"], ["a", "b"]],
    ["a line in several chunks", ["a", "b", "c\nd"], ["abc", "d"]],
    ["carriage returns and empty lines", ["a\r\n\n\nb"], ["a", "b"]],
    ["no output", [], []],
    ["a line without an end, in pieces", ["x".repeat(MAX_LINE_LENGTH), "y\nz"], ["x".repeat(MAX_LINE_LENGTH), "y", "z"]]
  ] as const)("are read from %s", ([, chunks, expected]) =>
    Effect.map(linesOf(chunks), (lines) => assert.deepStrictEqual(lines, [...expected]))
  )
})
