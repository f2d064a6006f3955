import { CORRECT, type MarkTarget, MarkValue, type RunState } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { Check, CircleDashed, CloudAlert, Undo2 } from "lucide-react"
import { useEffect, useMemo, useRef, useState } from "react"
import { Kbd } from "../../ui/basics.tsx"
import { useShortcuts } from "../../ui/Keys.ts"
import { Select, TextLink } from "../../ui/kit.tsx"
import { CommentField, ValueField } from "../../ui/marks/MarkFields.tsx"
import { MarkList } from "../../ui/marks/MarkList.tsx"
import { useMarksHere } from "../../ui/marks/MarksHere.ts"
import { useDefinitions, useRunMarks } from "../../ui/marks/useMarks.ts"
import { useMay } from "../../ui/useMe.ts"
import { cut } from "../../view/format/Format.ts"
import { choicesOf, isCurrent, isSameTarget, valueText } from "../../view/marks/Marks.ts"
import { type GivenMark, isOfSubject, lastGiven, targetOfText, targetText } from "../../view/review/Review.ts"
import { proposalsOf } from "../../view/run/Decision.ts"
import { runFacts } from "../../view/run/RunFacts.ts"
import type { ShownRun } from "../run/useShown.ts"
import { drafts, forget, give, undo } from "./GivenMarks.ts"
import type { ReviewRunProps } from "./ReviewQuery.ts"

interface ReviewPanelProps extends ReviewRunProps {
  readonly shown: ShownRun
  /** Index of the event that is selected in the story. */
  readonly event: number | undefined
  /** Shows the marks that the blind mode hides. */
  readonly reveal: () => void
}

const isAction = Schema.is(MarkValue)

const MOST_ACTIONS = 12
const MOST_PARTICIPANTS = 100
const SELECTED = "selected"

/** The actions of the proposals that were not decided: each may be the one that would have been right. */
const otherActions = ({ decision }: RunState, events: ShownRun["events"]): ReadonlyArray<string> => {
  const proposals = proposalsOf(events)
  const decided = decision.current?.proposalId ?? proposals[0]?.id
  const titles = proposals.filter(({ id }) => id !== decided).map(({ title }) => title)
  return [...new Set(titles)].filter((title) => isAction(title))
}

/** The mark of the caller on the shown run: its target, value and comment, and the marks of others. */
export const ReviewPanel = ({ event, given, goTo, me, renew, reveal, runId, set, shown, state }: ReviewPanelProps) => {
  const { name } = state
  const may = useMay()
  const definition = useDefinitions().data?.find((one) => one.name === name)
  const all = useRunMarks(runId)
  const visible = useMarksHere()
  const { participants } = shown.state
  const commentRef = useRef<HTMLTextAreaElement>(null)
  const [isEventTarget, setEventTarget] = useState(false)
  const selected = event === undefined ? undefined : shown.all[event - shown.start - 1]

  const isCorrect = name === CORRECT
  const chosen = targetOfText(state.target)
  const isThere =
    chosen?.kind !== "participant" || participants.some(({ participantId }) => participantId === chosen.id)
  const target: MarkTarget = isCorrect
    ? { kind: "decision" }
    : isEventTarget && selected !== undefined
      ? { kind: selected.type === "llm.call.completed" ? "llmCall" : "event", id: selected.id }
      : chosen !== undefined && isThere
        ? chosen
        : { kind: "run" }

  const pending = given.findLast((mark) => isOfSubject(mark, runId, { name, target }))
  const isGone =
    pending?.id !== undefined &&
    all.data !== undefined &&
    !all.isFetching &&
    !all.isError &&
    !all.data.marks.some(({ id }) => id === pending.id)
  useEffect(() => {
    if (isGone) forget(pending)
  }, [isGone, pending])
  const own = all.data?.marks.find(
    (mark) =>
      mark.author === me.id &&
      mark.source === "human" &&
      mark.name === name &&
      isCurrent(mark) &&
      isSameTarget(mark.target, target)
  )
  const hidden = (all.data?.marks.length ?? 0) - (visible?.marks.length ?? 0)
  const held = pending?.isRemoving === true ? undefined : (pending?.mark ?? own)
  const value = held?.value
  const subject = JSON.stringify([runId, name, target])
  const [draft, setDraft] = useDraft(subject)
  const comment = draft ?? held?.comment ?? ""

  const isDecided = shown.state.decision.current?.finalized === true
  const problem = !may("operator")
    ? "The role of this key cannot add marks."
    : target.kind === "decision" && !isDecided
      ? `This run has no decision, and ${name} marks a decision.`
      : undefined
  const actions = useMemo(
    () => (isCorrect ? otherActions(shown.state, shown.events).slice(0, MOST_ACTIONS) : []),
    [isCorrect, shown.state, shown.events]
  )
  const choices = useMemo(() => choicesOf(definition, actions), [definition, actions])

  const save = (next: MarkValue) => {
    const text = comment.trim()
    const mark = { target, name, value: next, source: "human" } as const
    give(runId, runFacts(shown.run).title, me.id, text === "" ? mark : { ...mark, comment: text }, renew)
    setDraft(undefined)
  }
  const saveComment = () => {
    if (draft === undefined || value === undefined || problem !== undefined) return
    if (draft.trim() === (held?.comment ?? "")) setDraft(undefined)
    else save(value)
  }
  const [refusals, setRefusals] = useState(0)
  const refuse = () => setRefusals((count) => count + 1)
  useEffect(() => setRefusals(0), [subject])
  const last = lastGiven(given)
  const undoLast = () => {
    if (last === undefined) return
    if (last.runId !== runId) set({ run: last.runId })
    undo(last, renew)
  }
  useShortcuts(
    problem === undefined
      ? [
          ...choices.flatMap(({ key, value: next }) =>
            key === undefined
              ? []
              : [
                  {
                    keys: key,
                    says: `${name}: ${cut(valueText(name, next), 40)}`,
                    group: "Mark",
                    run: () => save(next)
                  }
                ]
          ),
          { keys: "c", says: "Comment", group: "Mark", run: () => commentRef.current?.focus() },
          { keys: "u", says: "Undo the mark just made", group: "Mark", run: undoLast }
        ]
      : // A key that cannot mark says why.
        [
          ...choices.flatMap(({ key, value: next }) =>
            key === undefined ? [] : [{ keys: key, says: `${name}: ${cut(valueText(name, next), 40)}`, run: refuse }]
          ),
          { keys: "c", says: "Comment", run: refuse },
          { keys: "u", says: "Undo the mark just made", run: undoLast }
        ].map((shortcut) => ({ ...shortcut, group: "Mark" }))
  )
  const targetChosen = isEventTarget ? SELECTED : targetText(target)
  const targets = [
    ...(isDecided ? [["decision", "The decision"] as const] : []),
    ["run", "The run"] as const,
    ...participants
      .slice(0, MOST_PARTICIPANTS)
      .map(({ participantId: id }) => [targetText({ kind: "participant", id }), cut(id, 60)] as const),
    ...(selected === undefined ? [] : [[SELECTED, `Event ${selected.index}, selected in the story`] as const])
  ]
  return (
    <div className="flex flex-col gap-3 p-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="font-semibold">{name}</h2>
        <Stored given={pending} isStored={own !== undefined} />
      </div>
      {definition?.description === undefined ? null : (
        <p dir="auto" className="-mt-2 wrap-anywhere text-soft">
          {definition.description}
        </p>
      )}
      {isCorrect ? null : (
        <div className="flex items-center gap-2">
          <span className="label">Target</span>
          <Select
            label="Target"
            className="min-w-0 flex-1"
            value={targetChosen}
            options={targets}
            onChange={(next) => {
              setEventTarget(next === SELECTED)
              if (next !== SELECTED) set({ target: next === "run" ? "" : next })
            }}
          />
        </div>
      )}
      {problem === undefined ? (
        <>
          {definition === undefined ? (
            <p className="text-soft">
              There is no definition of {name}. <TextLink href="/marks">Add one</TextLink>, and its values have keys.
            </p>
          ) : (
            <ValueField
              key={subject}
              isReview
              name={name}
              definition={definition}
              choices={choices}
              value={value}
              onChange={(next) => (next === undefined ? undefined : save(next))}
            />
          )}
          <div className="relative">
            <CommentField fieldRef={commentRef} rows={2} value={comment} onChange={setDraft} onDone={saveComment} />
            <span className="absolute top-0 right-0">
              <Kbd keys="c" />
            </span>
          </div>
        </>
      ) : (
        <p key={refusals} role={refusals === 0 ? undefined : "alert"} className="text-warn">
          {refusals === 0 ? "" : "Not marked. "}
          {problem}
        </p>
      )}
      <div className="flex flex-wrap gap-1.5">
        <button type="button" className="btn" onClick={() => goTo(-1)}>
          Previous <Kbd keys="p" />
        </button>
        <button type="button" className="btn btn-main" onClick={() => goTo(1)}>
          Next <Kbd keys="n" />
        </button>
        <button type="button" className="btn" disabled={last === undefined} onClick={undoLast}>
          <Undo2 size={14} aria-hidden /> Undo <Kbd keys="u" />
        </button>
      </div>
      <section aria-label="Marks of the run" className="border-t border-line pt-2">
        <h3 className="label">Marks of the run</h3>
        {hidden > 0 ? (
          <p className="mt-1 text-muted" data-blind>
            Blind: the marks of others are hidden until you have given yours.{" "}
            <button type="button" className="text-accent underline" onClick={reveal}>
              Show them now
            </button>
          </p>
        ) : null}
        {visible === undefined || visible.marks.length === 0 ? (
          hidden > 0 ? null : (
            <p className="mt-1 text-muted">None yet.</p>
          )
        ) : (
          <MarkList marks={visible.marks} shown={visible} />
        )}
      </section>
    </div>
  )
}

/** A comment that is typed and not stored yet; it survives a visit to another run. */
const useDraft = (subject: string) => {
  const [typed, setTyped] = useState({ subject, text: drafts.get(subject) })
  if (typed.subject !== subject) setTyped({ subject, text: drafts.get(subject) })
  const set = (text: string | undefined) => {
    if (text === undefined) drafts.delete(subject)
    else drafts.set(subject, text)
    setTyped({ subject, text })
  }
  return [typed.subject === subject ? typed.text : undefined, set] as const
}

/** Whether the mark is stored: honest about one on its way. */
const Stored = ({ given, isStored }: { readonly given: GivenMark | undefined; readonly isStored: boolean }) => {
  const state =
    given === undefined
      ? isStored
        ? "stored"
        : "none"
      : given.isRemoving
        ? "removing"
        : given.problem === undefined
          ? given.state
          : "failed"
  return (
    <span role="status" data-stored={state} className="inline-flex items-center gap-1 text-[12px]">
      {state === "stored" ? (
        <span className="inline-flex items-center gap-1 text-good">
          <Check size={13} aria-hidden /> your mark is stored
        </span>
      ) : state === "storing" || state === "removing" ? (
        <span className="inline-flex items-center gap-1 text-muted">
          <CircleDashed size={13} aria-hidden /> {state === "storing" ? "being stored" : "being removed"}
        </span>
      ) : state === "failed" ? (
        <span className="inline-flex items-center gap-1 text-bad">
          <CloudAlert size={13} aria-hidden /> {given?.id === undefined ? "not stored" : "not removed"}
        </span>
      ) : (
        <span className="text-muted">no mark of yours</span>
      )}
    </span>
  )
}
