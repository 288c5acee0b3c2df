"""The pool of actors that has shards on Ray, on a Ray of the test's own, whose nodes fail as the test says; and what is
said where Ray ends the process."""

import json
from collections import Counter
from types import SimpleNamespace

import latebind
import pytest
from latebind.bulk._ray import RayEngine, _Pool
from support import python


class RayActorError(Exception):
    pass


class Call:
    def __init__(self, actor, shard=None):
        self.actor, self.shard = actor, shard


class Actor:
    def __init__(self, ray):
        self.ray, self.is_alive = ray, True
        self.node = ray.node_for(self)
        self.begin = SimpleNamespace(remote=lambda: Call(self))
        self.run = SimpleNamespace(remote=lambda shard: Call(self, shard))


class Ray:
    """Nodes with room for so many actors, and whether a call is lost: loses(call). A call is over when it is waited for."""

    exceptions = SimpleNamespace(RayActorError=RayActorError)

    def __init__(self, rooms, loses):
        self.rooms, self.loses = rooms, loses
        self.actors, self.lost = [], Counter()

    def node_for(self, actor):
        taken = Counter(each.node for each in self.actors if each.is_alive)
        free = [node for node, room in self.rooms.items() if taken[node] < room]
        assert free, "there is no room: actors that were lost keep their places"
        self.actors.append(actor)
        return min(free, key=lambda node: taken[node])

    def remote(self, **_):
        return lambda _: SimpleNamespace(remote=lambda job: Actor(self))

    def put(self, job):
        return job

    def wait(self, calls):
        return calls[:1], calls[1:]

    def get(self, call):
        if self.loses(call):
            self.lost[call.actor.node] += 1
            raise RayActorError(f"lost on {call.actor.node}")
        done = {"shard": call.shard, "rows": 1, "skipped": 0, "tokens": 1, "truncated": 0, "fallback": 0, "device": "x"}
        return json.dumps(done)

    def kill(self, actor):
        actor.is_alive = False


def run(ray, shards, bounds=(1, 2)):
    found = sorted(each.shard for each in _Pool(ray, None, bounds, {}).run(range(shards)))
    assert found == list(range(shards))
    assert not any(actor.is_alive for actor in ray.actors)


@pytest.mark.parametrize("at", ["as they start", "with their first shard"])
def test_a_node_where_every_actor_is_lost_does_not_end_the_work_of_others(at):
    ray = Ray({"good": 1, "bad": 1}, lambda call: call.actor.node == "bad" and (call.shard is None) == (at[0] == "a"))
    run(ray, 60)
    # Nor is it tried as often as there is room.
    assert 4 <= ray.lost["bad"] <= 66


def test_a_node_that_gets_well_is_used_again():
    ray = Ray({"good": 1, "bad": 1}, lambda call: call.actor.node == "bad" and ray.lost["bad"] < 8)
    run(ray, 60)
    assert ray.lost["bad"] == 8
    assert any(actor.node == "bad" for actor in ray.actors[-2:])


def test_where_all_are_lost_it_is_an_error():
    ray = Ray({"bad": 2}, lambda call: True)
    with pytest.raises(RayActorError, match="lost on bad"):
        run(ray, 5)
    assert ray.lost["bad"] == 4


def test_a_shard_that_ends_its_actors_is_an_error_and_all_others_are_done_or_waiting():
    ray = Ray({"good": 2}, lambda call: call.shard == 7)
    with pytest.raises((latebind.TransientError, RayActorError), match="lost"):
        run(ray, 20)
    assert ray.lost["good"] <= 24
    assert not any(actor.is_alive for actor in ray.actors)


def test_an_actor_that_only_cannot_be_reached_gives_its_place_back():
    """Its error is that of one that is lost, and there is room for one."""
    ray = Ray({"only": 1}, lambda call: call.shard == 3 and not ray.lost)
    run(ray, 6, (1, 1))
    assert ray.lost["only"] == 1


ENDED = "latebind.bulk: this process was terminated, by Ray because its node or the cluster's head is lost"


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("in the middle", ENDED),
        ("as an error leaves", "latebind.bulk: Ray has given up; finished shards are kept; run again to continue\n"),
        ("never", ""),
    ],
)
def test_a_process_that_ray_ends_does_not_go_without_a_word(at, said):
    """Ray calls _exit() where its node is gone, at whatever call, also that of shutdown()."""
    code = """
import os, sys
from types import SimpleNamespace
from latebind.bulk._ray import RayEngine

at = sys.argv[1]
engine = RayEngine.__new__(RayEngine)
engine._is_ours, engine._witness = False, None
engine._ray = SimpleNamespace(
    is_initialized=lambda: False, init=lambda **_: None, shutdown=lambda: at == "never" or os._exit(1)
)
with engine:
    if at == "in the middle":
        os._exit(1)
    elif at == "as an error leaves":
        raise RuntimeError("Ray has given up")
"""
    done = python(code, at)
    assert done.returncode == (at != "never")
    assert done.stderr.startswith(said) and len(done.stderr.splitlines()) == (at != "never")


def test_a_cluster_that_cannot_be_reached_is_an_error_of_latebind():
    def init(**_):
        raise ConnectionError("Failed to connect to Ray cluster")

    engine = RayEngine.__new__(RayEngine)
    engine._ray = SimpleNamespace(is_initialized=lambda: False, init=init)
    with pytest.raises(latebind.TransientError, match="Ray cannot be reached: Failed to connect to Ray cluster"):
        engine.__enter__()
