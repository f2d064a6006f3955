import { assert, describe, it } from "@effect/vitest"
import { CATALOGUE_URL, compareCatalogues } from "@runplane/prices"
import * as Result from "effect/Result"

const modelOf = (id: string, input: number) => ({
  id,
  match: { equals: id },
  prices: { input_mtok: input, output_mtok: 8 }
})
const listOf = (...models: ReadonlyArray<ReturnType<typeof modelOf>>) =>
  JSON.stringify([{ id: "ours", name: "Ours", api_pattern: "ours", models }])

const compare = (text: string, before?: string) => Result.getOrThrow(compareCatalogues(text, before))

describe("the changes between two lists of prices", () => {
  it("are against the bundled prices where there is no earlier list", () => {
    const openai = {
      id: "openai",
      name: "OpenAI",
      api_pattern: "openai",
      models: [{ ...modelOf("gpt-4o", 1), match: { equals: "gpt-4o" } }, modelOf("gpt-of-the-test", 1)]
    }
    const changes = compare(JSON.stringify([openai]), "not a list")
    assert.deepInclude(changes, {
      providers: 1,
      models: 2,
      added: ["openai/gpt-of-the-test"],
      changed: ["openai/gpt-4o"]
    })
    assert.include(changes.removed, "openai/gpt-4o-mini")
    assert.include(changes.removed, "anthropic/claude-haiku-4-5")
  })

  it("name each added, changed and removed model", () => {
    const before = listOf(modelOf("kept", 1), modelOf("dearer", 1), modelOf("gone", 1))
    assert.deepStrictEqual(compare(listOf(modelOf("new", 1), modelOf("dearer", 2), modelOf("kept", 1)), before), {
      providers: 1,
      models: 3,
      added: ["ours/new"],
      changed: ["ours/dearer"],
      removed: ["ours/gone"]
    })
  })

  it("are none where only the order of the fields differs", () => {
    const reordered = listOf({ ...modelOf("a", 1), prices: { output_mtok: 8, input_mtok: 1 } })
    assert.deepInclude(compare(reordered, listOf(modelOf("a", 1))), { added: [], changed: [], removed: [] })
  })

  it("are refused for a text that is not a list", () => {
    for (const text of ["", "{", "[]", '[{"id": "a"}]', listOf().replace("[]", '[{"id": "x", "prices": {}}]')]) {
      assert.isTrue(Result.isFailure(compareCatalogues(text, undefined)), text)
    }
  })

  it("come from the address of the data form that the package reads", () => {
    assert.match(CATALOGUE_URL, /^https:\/\/.*\/v2\/data\.json$/)
  })
})
