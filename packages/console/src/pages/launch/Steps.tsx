import { Check, Circle, CircleDashed, type LucideIcon, X } from "lucide-react"
import { UserText } from "../../ui/basics.tsx"
import type { LaunchStep, StepState } from "../../view/launch/LaunchSteps.ts"

const styles: Readonly<Record<StepState, { readonly icon: LucideIcon; readonly tone: string; readonly word: string }>> =
  {
    done: { icon: Check, tone: "text-good", word: "done" },
    now: { icon: CircleDashed, tone: "text-accent", word: "in progress" },
    failed: { icon: X, tone: "text-bad", word: "failed" },
    later: { icon: Circle, tone: "text-muted", word: "not yet" }
  }

/** The progress of a launch. */
export const Steps = ({ steps }: { readonly steps: ReadonlyArray<LaunchStep> }) => (
  <ol className="panel flex flex-col gap-1.5 p-4" aria-label="Progress" aria-live="polite">
    {steps.map(({ about, id, state, title }) => {
      const { icon: Icon, tone, word } = styles[state]
      return (
        <li key={id} className="flex items-baseline gap-2" data-step={id} data-state={state}>
          <Icon size={14} aria-hidden className={`shrink-0 translate-y-0.5 ${tone}`} />
          <span className={state === "later" ? "text-muted" : "font-medium"}>
            {title}
            <span className="sr-only">, {word}</span>
          </span>
          {about === undefined ? null : (
            <UserText text={about} className={state === "failed" ? "text-bad" : "text-muted"} />
          )}
        </li>
      )
    })}
  </ol>
)
