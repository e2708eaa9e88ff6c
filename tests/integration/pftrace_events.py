"""The packets of Perfetto's native form that draw something: events of tracks, and render stages."""
from pftrace_parts import Slice
from pftrace_wire import Broken, fields, message, number_of, real, signed, text

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


class Events:
    """Draws into tracks, gpus, slices, instants, counters, flows, submissions and stages of a trace."""

    def track_event(self, data, time, sequence):
        name = kind = value = None
        uuid, categories, flows, args, submissions = sequence.track, [], [], {}, []
        for field, v in fields(data):
            if field == 9:
                kind = v
            elif field == 3:
                categories.append(sequence.look_up(1, v))
            elif field == 10:
                name = sequence.look_up(2, v)
            elif field == 23:
                name = text(v)
            elif field == 4:
                key, argument = self.annotation(v, sequence)
                args[key] = argument
            elif field == 47:
                flows.append(number_of(v))
            elif field == 30:
                value = signed(v)
            elif field == 44:
                value = real(v)
            elif field == 3000:
                submissions = [i for f, i in fields(v) if f == 1]
            else:
                raise Broken(f"track event field {field}")
        track = self.tracks[uuid]
        track.used = True
        if (kind == COUNTER) != (track.counter is not None):
            raise Broken(f"event type {kind} on track {track.name!r}")
        if kind == BEGIN:
            made = Slice(track, name, "/".join(categories), time, args)
            if name is None or not categories:
                raise Broken("a slice without name or category")
            self.slices.append(made)
            sequence.open.append(made)
            self.connect(made, flows, submissions)
        elif kind == END:
            if not sequence.open:
                raise Broken(f"an end without a begin on track {track.name!r}")
            made = sequence.open.pop()
            made.end = time
            self.connect(made, flows, submissions)
        elif kind == INSTANT:
            self.instants.append((track, name, time, args))
        elif kind == COUNTER and value is not None:
            self.counters.append((track, time, value))
        else:
            raise Broken(f"track event of type {kind}, value {value}")

    def connect(self, made, flows, submissions):
        made.flows += flows
        for flow in flows:
            self.flows[flow].append(made)
        for submission in submissions:
            self.submissions[submission].append(made)

    def annotation(self, data, sequence):
        key = value = None
        for field, v in fields(data):
            if field == 1:
                key = sequence.look_up(3, v)
            elif field == 10:
                key = text(v)
            elif field == 2:
                value = bool(v)
            elif field == 3:
                value = v
            elif field == 4:
                value = signed(v)
            elif field == 5:
                value = real(v)
            elif field == 6:
                value = text(v)
            elif field == 17:
                value = sequence.look_up(29, v)
            else:
                raise Broken(f"annotation field {field}")
        if key is None or value is None:
            raise Broken("an annotation without name or value")
        return key, value

    def render_stage(self, data, time, sequence):
        stage = message(data)
        queue, what = sequence.look_up(24, stage[13]), sequence.look_up(24, stage[14])
        context = sequence.look_up(23, stage[5])
        name = sequence.look_up(2, stage[20])
        if 19 in stage and text(sequence.look_up(1000, stage[19])[2]) != name:
            raise Broken("the kernel has another name than its stage")
        made = Slice(None, name, text(what[2]), time, self.launch(stage.get(21, b""), sequence))
        made.end = time + stage.get(2, 0)
        made.gpu = (stage.get(11, 0), text(queue[2]), signed(context[2]))
        if made.gpu[0] >= len(self.gpus):
            raise Broken(f"GPU {made.gpu[0]} is not described")
        self.slices.append(made)
        self.stages[stage[1]].append(made)

    def launch(self, data, sequence):
        args = {}
        for field, v in fields(data):
            if field in (1, 2):
                args[("", "grid size", "workgroup size")[field]] = [d for _, d in sorted(fields(v))]
                continue
            argument = message(v)
            key = sequence.look_up(1001, argument[1]) if 1 in argument else text(argument[2])
            value = next((decode(argument[f]) for f, decode in (
                (3, signed), (4, int), (5, real), (6, text), (7, lambda i: sequence.look_up(29, i)))
                if f in argument), None)
            if value is None:
                raise Broken(f"argument {key!r} without a value")
            args[key] = value
        return args
